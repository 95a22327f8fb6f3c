"""Errors of the tasks package.

TaskError
    UnknownTaskError        no task of that name
    TaskNameTakenError      a plug-in wants a name that is in use
    TaskPluginError         a plug-in could not be loaded
    TaskDataError           a data file or row cannot be used
    TaskOptionError         a task was given an option or a split that it does not have
"""


class TaskError(Exception):
    """Anything that keeps a task from supplying problems. The message says what, where and what to do."""


class UnknownTaskError(TaskError):
    """No task of that name is built in, registered or installed."""


class TaskNameTakenError(TaskError):
    """A plug-in registers a name that another task already has."""


class TaskPluginError(TaskError):
    """An installed or given plug-in failed to import or does not define what it promises."""


class TaskDataError(TaskError):
    """A data set is missing, empty, or has a row that cannot be read; names the file and the row."""


class TaskOptionError(TaskError, ValueError):
    """An option value, option name or split that the task does not have."""
