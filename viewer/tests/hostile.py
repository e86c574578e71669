#!/usr/bin/env python3
"""Hostile requests against `abut view`: hostile.py ABUT FOLDER [COUNT]

COUNT (default 300) of each kind: paths that climb, other hosts and origins, tokens that are wrong, requests that are too large,
requests that never end, WebSocket frames that are none.  Each must be refused with nothing in the answer, and the server must
serve its owner before, between and after.  The address to refuse by is written down here, not asked from the program: what is
refused is 4xx with an empty body or a closed connection."""
import base64, hashlib, os, pathlib, random, select, socket, struct, subprocess, sys, time

abut, folder, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 300
seed = random.Random(9)
scene = folder / "hostile.lua"
folder.mkdir(parents=True, exist_ok=True)
scene.write_text('-- a ball\nworld { duration = 0.2, frame = 1/60 }\nbody { name = "ball", shape = sphere{0.1}, position = {0, 0, 1} }\n')
recording = folder / "hostile.abut"
subprocess.run([abut, "run", str(scene), "-o", str(recording), "-q"], check=True, stdout=subprocess.DEVNULL)


class Server:
    def __init__(self, file):
        self.process = subprocess.Popen([abut, "view", str(file), "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.process.stdout.readline().strip()
        if not self.address:  # a build without the page says so, and exits 2
            self.process.wait()
            print("abut view did not start; is the page built?")
            sys.exit(77)
        host, self.token = self.address[len("http://"):].rstrip("/").split("/")
        self.host, self.port = host, int(host.split(":")[1])

    def connect(self, timeout=8.0):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        return s

    def memory(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1]) * 1024
        return 0

    def is_sanitized(self):
        return b"__asan_init" in open(f"/proc/{self.process.pid}/exe", "rb").read()  # by name or within

    def files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def processor(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        assert self.process.wait(20) == 0, "the server did not end cleanly"


def read_all(s):
    data = b""
    try:
        while True:
            part = s.recv(65536)
            if not part:
                break
            data += part
            head, mark, body = data.partition(b"\r\n\r\n")
            if mark and b"Content-Length: %d\r\n" % len(body) in head + b"\r\n":
                break
    except (ConnectionError, socket.timeout):
        pass
    return data


def ask(server, raw):
    with server.connect() as s:
        try:
            s.sendall(raw)
        except ConnectionError:
            pass
        return read_all(s)


def get(server, path, host=None, extra=""):
    return ask(server, f"GET {path} HTTP/1.1\r\nHost: {host or server.host}\r\n{extra}\r\n".encode("latin-1"))


def refused(answer, what, quiet=True):
    if not answer:
        return
    status = answer.split(b" ", 2)[1]
    assert status[:1] == b"4" or status[:1] == b"5", f"{what}: answered {answer[:80]!r}"
    body = answer.partition(b"\r\n\r\n")[2]
    assert not quiet or len(body) < 200 and b"abut" not in body and b"root:" not in body, f"{what}: told {body[:200]!r}"


def alive(server, what):
    answer = get(server, f"/{server.token}/")
    assert answer.startswith(b"HTTP/1.1 200") and b"<!doctype html>" in answer[:1200], f"after {what}: the owner gets {answer[:100]!r}"


def told(server, name, what, began, spent):
    print(f"{name:28s} {count} {what} in {time.time() - began:.1f} s, {server.processor() - spent:.1f} s of the server's processor time, "
          f"{server.memory() / 1e6:.1f} MB, {server.files()} files", flush=True)


def stage(server, name, action):
    began, spent = time.time(), server.processor()
    for i in range(count):
        action(i)
    told(server, name, "refused", began, spent)


def climbing(server):
    pieces = ["..", "%2e%2e", "..%2f", "%2e%2e%5c", "..\\", ".%00.", "....//", "%c0%ae%c0%ae"]
    ends = ["etc/passwd", "hostile.lua", "data/head.json/..", "scene/../../x/", "picture/..%2f..%2fetc%2fpasswd", "", "data/"]

    def one(i):
        start = ["/", f"/{server.token}/", f"/{server.token}/data/", f"/{server.token}/picture/", f"/{server.token}/scene/"][i % 5]
        path = start + "/".join(seed.choice(pieces) for _ in range(seed.randint(1, 8))) + "/" + seed.choice(ends)
        answer = get(server, path)
        if answer.startswith(b"HTTP/1.1 200"):  # only where the dots lead back to the page itself, as a browser would make of it
            raise AssertionError(f"{path} was answered: {answer[:300]!r}")
        refused(answer, path)
    return one


def other_hosts(server):
    hosts = ["evil.example", f"evil.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}", f"127.0.0.1:{server.port}.evil.example", "",
             f"[::1]:{server.port}", f"0.0.0.0:{server.port}", f"127.0.0.1:{server.port} "[:-1] + "\t.x", "localhost"]
    origins = ["http://evil.example", "null", f"http://127.0.0.1:{server.port + 1}", f"https://127.0.0.1:{server.port}", f"http://127.0.0.1:{server.port}.evil.example", "file://"]

    def one(i):
        path = f"/{server.token}/" + ["", "data/head.json", "live"][i % 3]
        if i % 2:
            host = hosts[i // 2 % len(hosts)]
            refused(ask(server, f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()), f"host {host!r}")
        else:
            origin = origins[i // 2 % len(origins)]
            refused(get(server, path, extra=f"Origin: {origin}\r\n"), f"origin {origin!r}")
    return one


def without_token(server):
    def one(i):
        wrong = "%032x" % seed.getrandbits(128) if i % 3 else server.token[:31] + ("0" if server.token[31] != "0" else "1")
        path = ["/", f"/{wrong}/", f"/{wrong}/data/head.json", f"/{server.token}", f"/{server.token.upper()[:16]}{wrong[16:]}/", "/favicon.ico", f"//{server.token}/", "*"][i % 8]
        answer = get(server, path)
        refused(answer, path)
        assert server.token.encode() not in answer, "the token was told"
    return one


def oversized(server):
    def one(i):
        kind = i % 6
        if kind == 0:
            raw = b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"
        elif kind == 1:
            raw = f"GET /{server.token}/ HTTP/1.1\r\nHost: {server.host}\r\nX: ".encode() + b"b" * 30000 + b"\r\n\r\n"
        elif kind == 2:
            raw = f"POST /{server.token}/ HTTP/1.1\r\nHost: {server.host}\r\nContent-Length: 99999999999\r\n\r\n".encode() + b"c" * 4096
        elif kind == 3:
            raw = f"GET /{server.token}/data/frames.bin?from=0&count=1e99 HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode()
        elif kind == 4:
            raw = b"GET / HTTP/1.1\r\n" + b"".join(b"H%d: v\r\n" % k for k in range(900)) + b"\r\n"
        else:
            raw = bytes(seed.getrandbits(8) for _ in range(seed.randint(1, 3000))) + b"\r\n\r\n"
        refused(ask(server, raw), f"oversized {kind}")
    return one


def slow(server):
    """Connections that begin a request and never end it, 150 at a time; each must be closed by the server in a few seconds."""
    began, spent, done, waiting = time.time(), server.processor(), 0, {}
    while done < count:
        while len(waiting) < min(150, count - done):
            s = server.connect()
            s.sendall(f"GET /{server.token}/ HTTP/1.1\r\nHost: {server.host}\r\nX: ".encode()[: seed.randint(0, 60)])
            waiting[s.fileno()] = (s, time.time())
        ready, _, _ = select.select(list(waiting), [], [], 0.2)
        for number in ready:
            s, since = waiting.pop(number)
            answer = read_all(s)
            if answer:
                refused(answer, "slow")
            s.close()
            done += 1
        for number, (s, since) in list(waiting.items()):
            assert time.time() - since < 30, "a slow connection was kept for half a minute"
            if seed.random() < 0.05:
                try:
                    s.sendall(b"x")
                except ConnectionError:
                    pass
    told(server, "slow", "closed", began, spent)


def shake(server, s, origin=True, path=None):
    key = base64.b64encode(os.urandom(16)).decode()
    s.sendall((f"GET {path or '/' + server.token + '/live'} HTTP/1.1\r\nHost: {server.host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n" + (f"Origin: http://{server.host}\r\n" if origin else "") + "\r\n").encode())
    answer = b""
    try:
        while b"\r\n\r\n" not in answer:
            part = s.recv(4096)
            if not part:
                return None
            answer += part
    except (ConnectionError, socket.timeout):
        return None
    if not answer.startswith(b"HTTP/1.1 101"):
        return None
    accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
    assert accept in answer, "the handshake is wrong"
    return answer


def frame(payload, opcode=1, final=True, masked=True, length=None):
    n = len(payload) if length is None else length
    head = bytes([(0x80 if final else 0) | opcode])
    bit = 0x80 if masked else 0
    head += bytes([bit | n]) if n < 126 else bytes([bit | 126]) + struct.pack(">H", n) if n < 65536 else bytes([bit | 127]) + struct.pack(">Q", n)
    if not masked:
        return head + payload
    mask = os.urandom(4)
    return head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload))


def bad_frames(server):
    bad = [
        lambda: frame(b'{"do": "dance"}'), lambda: frame(b"not json"), lambda: frame(b'{"do": "pull", "body": -7, "at": [0,0,0], "to": [0,0,0]}'),
        lambda: frame(b'{"do": "pull", "body": 0, "at": [0,0,1e999], "to": [0,0]}'), lambda: frame(b'{"do": "restart", "set": {"x": "y"}}'),
        lambda: frame(b"x" * 5000), lambda: frame(b"x", opcode=2), lambda: frame(b"x", opcode=0), lambda: frame(b'{"do":', final=False),
        lambda: frame(b"x", opcode=11), lambda: frame(b"", length=(1 << 62)), lambda: frame(b"\xff\xfe\xfd"), lambda: frame(b"[" * 3000),
        lambda: frame(b'{"do": "pace", "value": -1}'), lambda: bytes(seed.getrandbits(8) for _ in range(200)),
    ]

    def one(i):
        with server.connect() as s:
            kind = i % 5
            if kind == 3:
                assert shake(server, s, origin=False) is None, "a socket without an origin was let in"
                return
            if kind == 4:
                assert shake(server, s, path=f"/{'%032x' % seed.getrandbits(128)}/live") is None, "a socket without the token was let in"
                return
            if shake(server, s) is None:
                return  # no room: eight at a time
            message = bad[i % len(bad)]()
            try:
                s.sendall(message)
                s.shutdown(socket.SHUT_WR)
                s.settimeout(8)
                while s.recv(65536):
                    pass
            except ConnectionError:
                pass
            except socket.timeout:
                raise AssertionError(f"a frame that is none ({message[:20]!r}) was not answered by closing")
    return one


def loopback_only(server):
    wanted = "%04X" % server.port
    local = [line.split()[1] for line in open("/proc/net/tcp") if line.split()[1].endswith(":" + wanted) and line.split()[3] == "0A"]
    assert local == ["0100007F:" + wanted], f"listening on {local}"
    try:
        six = [line for line in open("/proc/net/tcp6") if line.split()[1].endswith(":" + wanted) and line.split()[3] == "0A"]
    except FileNotFoundError:
        six = []
    assert not six, "listening on IPv6 too"


def quiet(server, files):
    """The files that are open when nothing is asked for; connections that were closed may last a moment."""
    for _ in range(50):
        if server.files() <= files:
            break
        time.sleep(0.1)
    return server.files()


def siege(file, kinds):
    """All kinds against one server: what it has at the end, it had after a few requests of each."""
    server = Server(file)
    loopback_only(server)
    alive(server, "the start")
    files = quiet(server, 0)
    print(f"{file.name}: {server.memory() / 1e6:.1f} MB, {files} files", flush=True)
    for name, kind in kinds:
        warm = server.memory()
        if kind is slow:
            slow(server)
        else:
            stage(server, name, kind(server))
        alive(server, name)
        # what a thread's stack and the allocator's arenas of 64 workers keep is not per request
        # (the address sanitizer keeps freed blocks in quarantine; it names what leaks when the server stops instead)
        grown = server.memory() - warm
        assert grown < 60e6 or server.is_sanitized(), f"{name}: the server has grown by {grown / 1e6:.0f} MB"
        assert quiet(server, files) <= files, f"{name}: {files} open files before, {server.files()} after"
    server.stop()


siege(recording, [("paths that climb", climbing), ("other hosts and origins", other_hosts), ("without the token", without_token),
                  ("oversized", oversized), ("slow", slow)])
siege(scene, [("malformed frames", bad_frames)])
print("ok")
