import os
import subprocess
import sys
from pathlib import Path

from support.docker_engine import containers_of, require_docker, sandbox_image

from sandbox.hardening import OWNER_LABEL, RUN_LABEL, SANDBOX_LABEL
from sandbox.ownership import is_gone, owner_label, remove_orphans

MACHINE, BOOT, PID, STARTED = owner_label().split("/")


def test_a_living_owner_is_not_gone_and_an_ended_one_is():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        label = f"{MACHINE}/{BOOT}/{process.pid}/{fields[19]}"
        assert not is_gone(label)
        process.kill()
    assert is_gone(label)
    assert not is_gone(owner_label())


def test_an_owner_of_an_earlier_boot_or_whose_number_another_process_has_is_gone():
    assert is_gone(f"{MACHINE}/another-boot/{PID}/{STARTED}")
    assert is_gone(f"{MACHINE}/{BOOT}/{PID}/1")


def test_owners_of_other_machines_and_unreadable_labels_are_never_judged():
    assert not is_gone(f"elsewhere/{BOOT}/999999999/1")
    assert not is_gone("")
    assert not is_gone("a/b/c/d")


def test_only_containers_whose_owner_is_gone_are_removed():
    engine, image = require_docker(), sandbox_image()
    owners = {
        "orphan": f"{MACHINE}/{BOOT}/{os.getpid()}/1",
        "mine": owner_label(),
        "elsewhere": f"elsewhere/{BOOT}/{os.getpid()}/1",
    }
    try:
        for run, owner in owners.items():
            labels = {SANDBOX_LABEL: "1", OWNER_LABEL: owner, RUN_LABEL: run}
            engine.client.api.create_container(image.tag, command=["true"], labels=labels)

        assert remove_orphans(engine) >= 1

        assert containers_of("orphan") == []
        assert len(containers_of("mine")) == len(containers_of("elsewhere")) == 1
    finally:
        for run in owners:
            for container_id in containers_of(run):
                engine.client.api.remove_container(container_id, force=True)
