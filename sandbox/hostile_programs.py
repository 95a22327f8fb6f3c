"""The hostile programs of `sandbox.self_check`: they try and look, but destroy nothing.

Most print one finding a line, and nothing where they are contained.
"""

SURVIVE = """
import os, sys, time
marker = sys.argv[1]
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        sys.stdout.close()
        os.execvp("python3", ["python3", "-c", "import time; time.sleep(60)", marker])
    os._exit(0)
time.sleep(0.2)
"""

FIND_PROCESS = """
import os, sys
marker = sys.argv[1].encode()[::-1]
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        if marker in open(f"/proc/{pid}/cmdline", "rb").read():
            print("a background process outlived its program")
    except OSError:
        pass
"""

LEAVE = """
import ctypes, os, socket, sys
marker = sys.argv[1]
for folder in (os.getcwd(), "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", os.path.expanduser("~")):
    try:
        open(os.path.join(folder, marker), "w").close()
    except OSError:
        pass
libc = ctypes.CDLL(None)
key = int(marker[:7], 16)
libc.shmget(key, 4096, 0o1666)
libc.semget(key, 1, 0o1666)
libc.msgget(key, 0o1666)
if os.fork() == 0:
    os.setsid()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind("\\0" + marker)
    listening.listen()
    import time
    time.sleep(60)
import time
time.sleep(0.3)
"""

LOOK = """
import ctypes, os, socket, sys
marker = sys.argv[1]
for folder in (os.getcwd(), "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", os.path.expanduser("~")):
    path = os.path.join(folder, marker)
    if os.path.exists(path):
        print("a file left in", folder)
        try:
            os.unlink(path)
        except OSError:
            pass
libc = ctypes.CDLL(None)
key = int(marker[:7], 16)
if libc.shmget(key, 4096, 0) != -1: print("shared memory left")
if libc.semget(key, 1, 0) != -1: print("a semaphore left")
if libc.msgget(key, 0) != -1: print("a message queue left")
try:
    socket.socket(socket.AF_UNIX).connect("\\0" + marker)
    print("an abstract socket left")
except OSError:
    pass
"""

NETWORK = """
import socket
tunnels = ("tunl", "sit", "ip6tnl", "gre", "erspan", "ip_vti", "ip6_vti", "ip6gre")  # dead ends in every namespace
for _, name in socket.if_nameindex():
    if name != "lo" and not name.startswith(tunnels): print("a network interface", name)
for address in (("1.1.1.1", 53), ("8.8.8.8", 443), ("172.17.0.1", 22), ("169.254.169.254", 80)):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            with socket.socket(socket.AF_INET, kind) as made:
                made.settimeout(1)
                made.connect(address)
                print("a route to", address[0])
        except OSError as error:
            if isinstance(error, TimeoutError): print("a route to", address[0])
"""

HOST_FILES = """
import os, sys
for path in sys.argv[1:]:
    if os.path.exists(path): print("the host's", os.path.basename(path))
for path in ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd", "/var/lib/docker"):
    if os.path.exists(path): print("the host's", path)
if set(os.environ) - {"PATH", "HOME", "LANG", "TMPDIR", "LC_ALL", "LC_CTYPE"}:
    print("environment variables", sorted(os.environ))
"""

WRITE = """
import os, sys
system = "/ /etc /usr /usr/bin /usr/lib /root /home /var /opt /sys /proc /dev".split()
for folder in [*system, *sys.path]:
    path = os.path.join(folder, "rlvr-check-writable")
    try:
        open(path, "x").close()
        print("writable:", folder)
        os.unlink(path)
    except OSError:
        pass
for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/etc/passwd", "/sys/fs/cgroup/cgroup.procs"):
    try:
        os.close(os.open(path, os.O_WRONLY))
        print("can be opened to write:", path)
    except OSError:
        pass
"""

PRIVILEGE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if 0 in os.getresuid() + os.getresgid(): print("runs as root")
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
for name in ("CapPrm", "CapEff", "CapAmb"):
    if int(status[name], 16): print("holds capabilities", name, status[name].strip())
if status.get("NoNewPrivs", "1").strip() != "1": print("may gain privileges from files")
for name, arguments in (
    ("setuid", (0,)), ("mount", (b"none", b"/tmp", b"tmpfs", 0, None)), ("unshare", (0x10000000,)),
    ("chroot", (b"/tmp",)), ("sethostname", (b"x", 1)), ("swapoff", (b"/x",)), ("iopl", (3,)),
):
    if getattr(libc, name)(*arguments) == 0: print("may call", name)
calls = {101: "ptrace", 321: "bpf", 298: "perf_event_open", 323: "userfaultfd", 425: "io_uring_setup", 250: "keyctl"}
for number, name in calls.items():
    if os.uname().machine == "x86_64":
        ctypes.set_errno(0)
        result = libc.syscall(number, 0, 0, 0, 0, 0)
        if result != -1 or ctypes.get_errno() not in (1, 13, 38): print("the kernel lets through", name)
"""

SPY = """
import os
for pid in filter(str.isdigit, os.listdir("/proc")):
    if int(pid) == os.getpid(): continue
    for name in ("mem", "environ", "maps"):
        try:
            with open(f"/proc/{pid}/{name}", "rb") as file:
                if name != "mem": file.read(1)
            print("can read", name, "of", "PID 1" if pid == "1" else "another process")
        except OSError:
            pass
    try:
        os.listdir(f"/proc/{pid}/fd")
        print("can see the descriptors of", "PID 1" if pid == "1" else "another process")
    except OSError:
        pass
for descriptor in range(3, 256):
    try:
        os.fstat(descriptor)
        print("inherits descriptor", descriptor)
    except OSError:
        pass
"""

ATTACK_PARENT = """
import os, signal
for pid in (1, os.getppid(), -1):
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
        try:
            if pid not in (-1, 0) or os.getpid() != 1: os.kill(pid, number)
        except OSError:
            pass
print("unharmed")
"""

GUARDING = b"""
import os, sys, time
secret = sys.stdin.read()
os.write(4, b"go")
os.read(3, 1)
print("kept")
"""

# The secret itself never stands in this program's memory, which is searched too: a fork may have inherited it.
STEAL = """
import os, re
os.read(3, 2)
veiled = bytes.fromhex("{veiled}")
veil = bytes(byte ^ 1 for byte in range(256))
def holds(path, places=None):
    try:
        with open(path, "rb", 0) as file:
            if places is None: return veiled in file.read().translate(veil)
            for low, high in places:
                try:
                    file.seek(low)
                    if veiled in file.read(high - low).translate(veil): return True
                except (OSError, OverflowError, ValueError):
                    pass
    except OSError:
        pass
    return False
for pid in filter(str.isdigit, os.listdir("/proc")):
    whose = "its own" if int(pid) == os.getpid() else "another process's"
    for name in ("cmdline", "environ"):
        if holds(f"/proc/{{pid}}/{{name}}"): print("the judge's input is in", whose, name)
    try:
        with open(f"/proc/{{pid}}/maps") as maps:
            places = re.findall(r"(?m)^(\\w+)-(\\w+) r(?!.*\\[v)", maps.read())
    except OSError:
        continue
    if holds(f"/proc/{{pid}}/mem", [(int(low, 16), int(high, 16)) for low, high in places]):
        print("the judge's input is in", whose, "memory")
for folder in ("/tmp", "/dev/shm", os.getcwd()):
    for root, _, names in os.walk(folder):
        for name in names:
            if os.path.isfile(os.path.join(root, name)) and holds(os.path.join(root, name)):
                print("the judge's input is in a file")
os.write(4, b"x")
"""
