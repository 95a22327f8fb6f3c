import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.errors import SandboxLostError
from sandbox.types import End, Execution, Judge, Limits, Program
from sandbox.wire import HEADER_BYTES_MAX, FrameReader, encode, read_done, run_request

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
headers = st.dictionaries(st.text(max_size=5).filter(lambda name: name != "blobs"), json_values, max_size=3)
frames = st.tuples(headers, st.lists(st.binary(max_size=40), max_size=4))
DONE = {"op": "done", "end": "exited", "exit_code": -9, "wall_s": 1.5, "judge": None, "cpu_s": 1, "oom_kills": 0}
DONE |= {"left": 2, "clean_ms": 0.2, "clean": True}


@given(st.lists(frames, max_size=4), st.lists(st.integers(1, 50), min_size=1, max_size=20))
def test_frames_come_out_as_they_went_in_however_the_stream_is_cut(sent, cuts):
    stream = b"".join(part for header, blobs in sent for part in encode(header, blobs))
    reader, received, position = FrameReader(1000), [], 0
    while position < len(stream):
        size = cuts[position % len(cuts)]
        received += reader.feed(stream[position : position + size])
        position += size
    assert [({k: v for k, v in header.items() if k != "blobs"}, blobs) for header, blobs in received] == sent


@given(st.binary(max_size=200))
def test_whatever_comes_from_a_container_is_a_frame_or_a_lost_container(data):
    reader = FrameReader(1000)
    try:
        for header, blobs in reader.feed(data):
            read_done(header, blobs)
    except SandboxLostError:
        pass


def test_a_container_that_announces_too_much_is_given_up_before_it_sends_it():
    announced = encode({"op": "done"}, [b""])[0].replace(b"[0]", b"[99999999]")
    stream = (len(announced) - 4).to_bytes(4, "big") + announced[4:]
    with pytest.raises(SandboxLostError, match="99999999 bytes, above 1000"):
        FrameReader(1000).feed(stream)
    with pytest.raises(SandboxLostError, match=r"header of \d+ bytes"):
        FrameReader(1000).feed((HEADER_BYTES_MAX + 1).to_bytes(4, "big"))


@pytest.mark.parametrize("blobs", [b"null", b"[-1]", b"[true]", b"3", b'["1"]'])
def test_lengths_of_blobs_that_are_no_lengths_lose_the_container(blobs):
    header = b'{"op": "done", "blobs": ' + blobs + b"}"
    with pytest.raises(SandboxLostError, match="without the lengths"):
        FrameReader(1000).feed(len(header).to_bytes(4, "big") + header)


def test_a_request_that_fits_no_header_is_refused_on_the_host():
    with pytest.raises(ValueError, match="above"):
        encode({"argv": ["x" * HEADER_BYTES_MAX]})


def test_a_run_request_carries_the_secrets_of_the_judge_last():
    program = Program(argv=("python3", "a.py"), files={"a.py": b"A", "b/c": b"BC"}, stdin=b"in")
    header, blobs = run_request(7, program, Limits(), start="fork", judge=Judge(source=b"source", stdin=b"expected"))
    assert (header["id"], header["files"], header["judge"]) == (7, ["a.py", "b/c"], True)
    assert blobs == [b"in", b"A", b"BC", b"source", b"expected"]


def test_a_reply_is_read_into_executions():
    judge = {"end": "killed", "exit_code": None, "wall_s": 2}
    done = read_done({**DONE, "judge": judge}, [b"out", b"err", b"verdict", b""])
    assert done.program == Execution(end=End.EXITED, exit_code=-9, stdout=b"out", stderr=b"err", wall_s=1.5)
    assert done.judge == Execution(end=End.KILLED, stdout=b"verdict", wall_s=2.0)
    assert (done.left, done.clean, done.oom_kills) == (2, True, 0)


@pytest.mark.parametrize("name", sorted(set(DONE) - {"op"}))
def test_a_reply_that_lacks_something_loses_the_container(name):
    with pytest.raises(SandboxLostError, match="cannot be read"):
        read_done({key: value for key, value in DONE.items() if key != name}, [b"", b""])
