"""Attacks on a gateway with a show on air. Each returns the figures that it saw, and says whether they are harmless."""

import os
import random
import re
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time
import urllib.parse

from gateway import HOST, Gateway
from players import Audience, command, message, play_messages, rtmp_connect  # noqa: F401

ALL = {}

# Players of each protocol that watch while an attack lasts.
PROBES = {"rtmp": 2, "flv": 4, "hls": 2, "llhls": 2}


def attack(description, **gateway):
    """Registers an attack: its name, what it does, and how its gateway is started."""
    def register(run):
        ALL[run.__name__.replace("_", "-")] = (run, description, gateway)
        return run
    return register


class Show:
    """Two rooms on air with players, so that it shows whether an attack on one harms the other."""

    def __init__(self, gateway, probes=PROBES):
        self.gateway = gateway
        gateway.put_on_air("one")
        gateway.put_on_air("two")
        self.audiences = [Audience(gateway.ports, room, probes) for room in ("one", "two")]
        for audience in self.audiences:
            audience.wait_until_playing()
        time.sleep(3)
        self.since = self.audiences[0].mark()

    def gaps(self):
        """The longest gap of the players of each room since the attack began."""
        return [round(audience.longest(self.since), 3) for audience in self.audiences]

    def end(self):
        for audience in self.audiences:
            audience.end()


# Attackers have addresses of their own, so that the limits of one client are theirs and not the players'.
ATTACKER = "127.0.0.66"


def connect(port, timeout=5, source=ATTACKER):
    return socket.create_connection((HOST, port), timeout, source_address=(source, 0))


def push(connection, amount, seconds):
    """Sends up to `amount` MiB, as fast as it is taken; returns the MiB."""
    sent, end, piece = 0, time.monotonic() + seconds, b"x" * (1 << 20)
    connection.settimeout(2)
    try:
        while sent < amount << 20 and time.monotonic() < end:
            sent += connection.send(piece)
    except OSError:
        pass
    return round(sent / (1 << 20), 1)


def still_open(connections):
    count = 0
    for connection in connections:
        connection.setblocking(False)
        try:
            # An answer may stand before the end.
            while connection.recv(65536):
                pass
        except BlockingIOError:
            count += 1
        except OSError:
            pass
    return count


@attack("requests after which an HTTP reader would keep every byte: CONNECT, Upgrade, beside an event stream too")
def upgrade(gateway):
    show = Show(gateway)
    token = gateway.participant_token("one")
    events = f"GET /v1/rooms/one/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n"
    change = "Connection: Upgrade\r\nUpgrade: x\r\n"
    heads = {
        "CONNECT": ("http", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"),
        "Upgrade": ("http", f"GET /livez HTTP/1.1\r\nHost: a\r\n{change}\r\n"),
        "Upgrade of events": ("http", f"{events}{change}\r\n"),
        "behind events": ("http", f"{events}\r\nGET /livez HTTP/1.1\r\nHost: a\r\n{change}\r\n"),
        "header without end": ("http", "GET /livez HTTP/1.1\r\nHost: a\r\nA: "),
        "CONNECT, admin": ("admin", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"),
        "Upgrade, admin": ("admin", f"GET /livez HTTP/1.1\r\nHost: a\r\n{change}\r\n"),
    }
    before, taken = gateway.resident(), {}
    most = before
    for name, (port, head) in heads.items():
        with connect(gateway.ports[port]) as connection:
            connection.sendall(head.encode())
            time.sleep(0.3)
            taken[name] = push(connection, 600, 6)
        most = max(most, gateway.resident())
    figures = {"MiB taken": taken, "memory MiB": [before, most], "gaps s": show.gaps()}
    show.end()
    return figures, gateway.is_alive and max(taken.values()) < 16 and most - before < 64


@attack("more silent connections than the process may have open files", descriptors=300)
def descriptors(gateway):
    show = Show(gateway, {"flv": 4, "rtmp": 2})
    mixer, held, refused = gateway.mixers()["one"], [], 0
    for number in range(int(gateway.descriptors * 1.7)):
        try:
            # From so many addresses that no limit of a client helps.
            port = gateway.ports["http" if number % 4 else "rtmp"]
            held.append(connect(port, 2, source=f"127.0.{1 + number // 100}.66"))
        except OSError:
            refused += 1
    time.sleep(3)
    opened = gateway.open_descriptors() if gateway.is_alive else None
    if gateway.is_alive:
        os.kill(mixer, signal.SIGKILL)
    time.sleep(15)
    figures = {
        "alive": gateway.is_alive, "descriptors": [opened, gateway.descriptors], "held": still_open(held),
        "gaps s, with a mixer killed": show.gaps(), "lines in the log": len(gateway.log_lines("connections are refused")),
    }
    for connection in held:
        connection.close()
    show.end()
    return figures, gateway.is_alive and max(figures["gaps s, with a mixer killed"]) < 3


@attack("players that send aggregates full of commands, and commands without end")
def aggregates(gateway):
    show = Show(gateway)
    before = gateway.resident()
    body = amf_aggregate(4 << 20)
    closed, answers = [0], [0]

    def flood(payload):
        connection = connect(gateway.ports["rtmp"])
        try:
            connection.sendall(b"\x03" + bytes(1536))
            answer = b""
            while len(answer) < 3073:
                answer += connection.recv(4096)
            connection.sendall(answer[1:1537] + message(20, command("connect", 1, {"app": "live"})))
            connection.sendall(play_messages("one"))
            time.sleep(1)
            connection.settimeout(20)
            for _ in range(5):
                connection.sendall(payload)
            # Media comes too as long as it is not closed.
            end = time.monotonic() + 8
            while time.monotonic() < end:
                data = connection.recv(1 << 16)
                answers[0] += len(data)
                if not data:
                    closed[0] += 1
                    return
        except TimeoutError:
            pass
        except OSError:
            closed[0] += 1
        finally:
            connection.close()

    size = message(1, struct.pack(">I", 4 << 20), 2)
    payloads = [size + message(22, body, 7, 1, 4 << 20)] * 6
    payloads += [message(20, command("connect", 1, {"app": "live"})) * 20_000] * 2
    payloads += [size + message(4, struct.pack(">HI", 6, 1), 2) * 100_000] * 2
    threads = [threading.Thread(target=flood, args=(payload,)) for payload in payloads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    figures = {
        "players closed": [closed[0], len(threads)], "MiB answered": round(answers[0] / (1 << 20), 1),
        "memory MiB": [before, gateway.resident()], "gaps s": show.gaps(),
    }
    show.end()
    return figures, gateway.is_alive and closed[0] == len(threads)


def amf_aggregate(size):
    call = command("connect") + b"\x05" + command({"app": "a"})
    tag = bytes([20]) + struct.pack(">I", len(call))[1:] + bytes(7) + call + struct.pack(">I", len(call) + 11)
    return tag * (size // len(tag) - 1)


@attack("20,000 requests for a playlist by one client that never plays")
def newcomers(gateway):
    show = Show(gateway)
    request = b"GET /live/one/index.m3u8 HTTP/1.1\r\nHost: a\r\n\r\n"
    statuses, sent, buffer = {}, 0, b""
    connection = connect(gateway.ports["http"])
    connection.settimeout(5)
    begin = time.monotonic()
    try:
        while sent < 20_000 and time.monotonic() - begin < 30:
            connection.sendall(request * 20)
            sent += 20
            answered = 0
            while answered < 20:
                buffer += connection.recv(65536)
                while found := re.search(rb"(?is)HTTP/1\.1 (\d+).*?content-length: (\d+).*?\r\n\r\n", buffer):
                    end = found.end() + int(found.group(2))
                    if len(buffer) < end:
                        break
                    status = found.group(1).decode()
                    statuses[status] = statuses.get(status, 0) + 1
                    buffer, answered = buffer[end:], answered + 1
    except OSError:
        statuses["closed"] = statuses.get("closed", 0) + 1
    connection.close()
    late = Audience(gateway.ports, "two", {"rtmp": 1, "flv": 1})
    time.sleep(3)
    joined = [player.protocol for player in late.players if player.last]
    viewers = gateway.must("GET", "/v1/rooms/one/viewership")["concurrent_viewers"]
    figures = {"answers": statuses, "newcomers that play": joined, "viewers counted": viewers, "gaps s": show.gaps()}
    late.end()
    show.end()
    return figures, len(joined) == 2 and viewers == sum(PROBES.values())


@attack("hundreds of clients that send a byte a second, or nothing: headers, bodies, handshakes")
def slow_clients(gateway):
    show = Show(gateway)
    authorization = f"Authorization: Bearer {gateway.token}\r\n"
    kinds = {
        "headers": ("http", b"GET /live/one/index.m3u8 HTTP/1.1\r\nHost: x\r\nX: ", b"a"),
        "bodies": ("http", b"POST /v1/nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{", b" "),
        "bodies with a token": (
            "http", f"POST /v1/rooms HTTP/1.1\r\nHost: x\r\n{authorization}Content-Length: 1000\r\n\r\n{{".encode(), b" "),
        "handshakes": ("rtmp", b"\x03", b"\0"),
        "silent, HTTP": ("http", b"", b""),
        "silent, RTMP": ("rtmp", b"", b""),
    }
    held = {}
    for name, (port, head, _) in kinds.items():
        held[name] = []
        for _ in range(40):
            connection = connect(gateway.ports[port])
            connection.sendall(head)
            held[name].append(connection)
    begin, gone = time.monotonic(), {}
    while time.monotonic() - begin < 45 and len(gone) < len(kinds):
        for name, connections in held.items():
            for connection in connections:
                try:
                    connection.setblocking(True)
                    connection.settimeout(1)
                    connection.send(kinds[name][2])
                except OSError:
                    pass
            if name not in gone and still_open(connections) == 0:
                gone[name] = round(time.monotonic() - begin, 1)
        time.sleep(1)
    figures = {"all closed after s": gone, "gaps s": show.gaps(), "memory MiB": gateway.resident()}
    for connections in held.values():
        for connection in connections:
            connection.close()
    show.end()
    return figures, len(gone) == len(kinds)


@attack(
    "segments asked for on all streams of HTTP/2 connections that are never read", secure=True,
    environment={"FOOTLIGHT_LIMITS_REQUESTS": "0"},
)
def unread_streams(gateway):
    show = Show(gateway)
    segment = newest_segment(gateway, "one")
    before, connections = gateway.resident(), []
    for _ in range(40):
        connection = connect_http2(gateway.ports["https"])
        # Ids of clients are odd.
        connection.sendall(b"".join(http2_get(stream, segment) for stream in range(1, 121, 2)))
        connections.append(connection)
    # The system gives a client up that takes nothing for fifteen seconds.
    time.sleep(8)
    grown = gateway.resident() - before
    answered = read_for(connections[0], 5)
    figures = {
        "memory MiB": [before, before + grown], "segment": segment, "answers of one MiB": answered, "gaps s": show.gaps(),
        "alive": gateway.is_alive,
    }
    for connection in connections:
        connection.close()
    show.end()
    # Two MiB of each connection may wait; all answers that one gets when it reads are several times as much.
    return figures, gateway.is_alive and answered > 2 and grown < 40 * min(answered, 4)


def read_for(connection, seconds):
    """Reads what comes within some seconds; returns the MiB."""
    received, end = 0, time.monotonic() + seconds
    connection.settimeout(1)
    try:
        while time.monotonic() < end:
            received += len(connection.recv(1 << 16))
    except OSError:
        pass
    return round(received / (1 << 20), 1)


def newest_segment(gateway, room):
    """The path of the newest whole segment of a room."""
    path = f"/live/{room}/index.m3u8"
    # The media playlist of the multivariant one, and its last segment.
    for position in (0, -1):
        playlist = gateway.request("GET", path, token=None)[1].decode()
        path = urllib.parse.urljoin(path, [line for line in playlist.splitlines() if line and line[0] != "#"][position])
    return path


def http2_frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def http2_get(stream, path):
    """The HEADERS frame of a request, with literals of HPACK (RFC 7541)."""
    def text(index, value):
        length, number = len(value), b""
        if length < 127:
            number = bytes([length])
        else:
            number, length = bytes([127]), length - 127
            while length >= 128:
                number, length = number + bytes([length % 128 + 128]), length // 128
            number += bytes([length])
        return bytes([index]) + number + value.encode()
    # :method GET, :scheme https, :path, :authority; the end of the header and of the request.
    return http2_frame(1, 0x5, stream, b"\x82\x87" + text(4, path) + text(1, "localhost"))


def connect_http2(port):
    """Connects by HTTP/2 with windows of two GiB, so that only TCP slows the answers down."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.bind((ATTACKER, 0))
    plain.settimeout(5)
    plain.connect((HOST, port))
    connection = context.wrap_socket(plain, server_hostname="localhost")
    window = struct.pack(">HI", 4, (1 << 31) - 1)
    connection.sendall(
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + http2_frame(4, 0, 0, window)
        + http2_frame(8, 0, 0, struct.pack(">I", (1 << 31) - 1 - 65535))
    )
    return connection


@attack("blocking playlist requests, made-up ids and requests from far ahead, thousands at once")
def playlists(gateway):
    show = Show(gateway)
    statuses = storm_playlists(gateway, "one", 12)
    figures = {"answers": statuses, "gaps s": show.gaps(), "memory MiB": gateway.resident()}
    show.end()
    return figures, gateway.is_alive and max(show.gaps()) < 2


def storm_playlists(gateway, room, seconds):
    """Asks for playlists by every wrong and right address for some seconds; returns the answers' statuses."""
    statuses, lock, end = {}, threading.Lock(), time.monotonic() + seconds

    def ask(number):
        chance = random.Random(number)
        while time.monotonic() < end:
            made_up = "".join(chance.choices("ABCDEFabcdef0123456789_-", k=32))
            path = chance.choice([
                f"/live/{room}/index.m3u8", f"/live/{room}/media.m3u8?sid={made_up}",
                f"/live/{room}/media.m3u8?_HLS_msn={chance.randrange(10**9)}&_HLS_part=3",
                f"/live/{room}/media.m3u8?_HLS_msn=99999999999999999999", f"/live/nobody{number}/index.m3u8",
            ])
            try:
                status = gateway.request("GET", path, token=None, timeout=10, source=ATTACKER)[0]
            except (OSError, ValueError) as error:
                status = type(error).__name__
            except Exception as error:  # A connection that ends in the middle of an answer.
                status = type(error).__name__
            with lock:
                statuses[status] = statuses.get(status, 0) + 1

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statuses


@attack("a request whose body has the bytes of a known request, behind an early answer")
def smuggling(gateway):
    show = Show(gateway)
    _, playlist = gateway.request("GET", "/live/one/index.m3u8", token=None)
    media = [line for line in playlist.decode().splitlines() if line and not line.startswith("#")][0]
    _, playlist = gateway.request("GET", f"/live/one/{media}", token=None)
    segment = [line for line in playlist.decode().splitlines() if line and not line.startswith("#")][-1]
    request = f"GET /live/one/{segment} HTTP/1.1\r\nHost: x\r\n\r\n".encode()

    def answers(connection):
        connection.settimeout(1.5)
        data = b""
        try:
            while piece := connection.recv(1 << 16):
                data += piece
        except OSError:
            pass
        return [status.decode() for status in re.findall(rb"HTTP/1\.1 (\d+) ", data)]

    connection = connect(gateway.ports["http"])
    connection.sendall(request)
    warm = answers(connection)
    connection.sendall(f"GET /v1/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: {len(request)}\r\n\r\n".encode())
    early = answers(connection)
    try:
        connection.sendall(request)
        behind = answers(connection)
    except OSError:
        behind = []
    figures = {"known": warm, "the one request": early, "its body": behind}
    show.end()
    return figures, warm == ["200"] and "200" not in behind


@attack("two log lines whose byte counts overflow", environment={"FOOTLIGHT_VIEWERSHIP_BEATS_PORT": "0"})
def byte_counts(gateway):
    port = free_datagram_port()
    gateway.environment["FOOTLIGHT_VIEWERSHIP_BEATS_PORT"] = str(port)
    gateway.signal(signal.SIGTERM)
    gateway.wait()
    gateway.start()
    show = Show(gateway)
    _, playlist = gateway.request("GET", "/live/one/index.m3u8", token=None)
    session = re.search(r"(?:sid=|~)([A-Za-z0-9_-]{32})", playlist.decode()).group(1)
    gateway.request("GET", f"/live/one/media.m3u8?sid={session}", token=None)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for count in (2**63 - 1, 2**63 - 1, 2**64, -1):
            line = f"<190>Nov 21 18:00:00 hls: {session} /live/one/media.m3u8 200 {count} 0.003 HIT"
            sender.sendto(line.encode(), (HOST, port))
            time.sleep(0.3)
    # A process that traps may take seconds to write its trace.
    time.sleep(9)
    figures = {"alive": gateway.is_alive, "gaps s": show.gaps()}
    show.end()
    return figures, gateway.is_alive and max(figures["gaps s"]) < 5


def free_datagram_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


@attack("a mixer that hangs (SIGSTOP)")
def hang(gateway):
    show = Show(gateway)
    stopped = gateway.mixers()["one"]
    os.kill(stopped, signal.SIGSTOP)
    begin = time.monotonic()
    while gateway.mixers().get("one") == stopped and time.monotonic() - begin < 60:
        time.sleep(0.1)
    replaced = round(time.monotonic() - begin, 1)
    time.sleep(6)
    figures = {"replaced after s": replaced, "gaps s": show.gaps()}
    show.end()
    return figures, replaced < 8 and figures["gaps s"][1] < 2


@attack("a mixer that crashes: a true fault in it")
def crash(gateway):
    show = Show(gateway)
    gaps = []
    for _ in range(3):
        since = show.audiences[0].mark()
        os.kill(gateway.mixers()["one"], signal.SIGSEGV)
        time.sleep(9)
        gaps.append(round(max(show.audiences[0].gaps(since)["flv"]), 2))
    figures = {"gaps of three deaths s": gaps, "the other room s": show.gaps()[1]}
    show.end()
    return figures, gaps[0] < 0.8 and max(gaps) < 3


@attack("a second gateway on the data folder of the first")
def second_start(gateway):
    show = Show(gateway)
    before = open(os.path.join(gateway.data, "endpoints.json")).read()
    second = subprocess.Popen(
        [gateway.program, "serve", "--data-dir", gateway.data, "--host", HOST, "--rtmp-port", "0", "--http-port", "0",
         "--admin-port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    try:
        words = second.communicate(timeout=10)[0]
    except subprocess.TimeoutExpired:
        second.terminate()
        words = "it runs\n" + second.communicate()[0]
    after = open(os.path.join(gateway.data, "endpoints.json")).read()
    figures = {"status": second.returncode, "words": words.strip()[-300:], "gaps s": show.gaps()}
    show.end()
    return figures, second.returncode != 0 and before == after and str(gateway.process.pid) in figures["words"]


@attack("a guest's avatar at an address of this machine")
def inner_addresses(gateway):
    listener = socket.create_server((HOST, 0))
    asked = []

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            asked.append(connection.recv(4096)[:80])
            connection.close()

    threading.Thread(target=serve, daemon=True).start()
    show = Show(gateway)
    address = f"http://{HOST}:{listener.getsockname()[1]}/latest/meta-data"
    token = gateway.participant_token("one")
    status = gateway.request(
        "POST", "/v1/rooms/one/participants", {"mode": "SEND_AND_RECV", "avatar": address}, token=token)[0]
    operator = gateway.request(
        "POST", "/v1/rooms/one/participants",
        {"identity": "mallory", "mode": "SEND_AND_RECV", "avatar": address})[0]
    time.sleep(30)
    listener.close()
    figures = {"joins answered": [status, operator], "asked": len(asked)}
    show.end()
    return figures, not asked


@attack("the data folder deleted under a running gateway")
def lost_folder(gateway):
    show = Show(gateway)
    aside = gateway.data + "-gone"
    os.rename(gateway.data, aside)
    time.sleep(6)
    made = gateway.request("POST", "/v1/rooms", {"unique_name": "kept"})[0]
    ready, reasons = gateway.request("GET", "/readyz", token=None)
    figures = {"room made": made, "ready": ready, "reasons": str(reasons)[:200], "gaps s": show.gaps()}
    if os.path.exists(gateway.data):
        subprocess.run(["rm", "-rf", gateway.data], check=True)
    os.rename(aside, gateway.data)
    show.end()
    return figures, made != 201 and ready == 503


@attack("a log of a content network that costs much to unpack and to read")
def access_logs(gateway):
    import gzip
    show = Show(gateway)
    body = gzip.compress(b'{"a":1}\n' * 1_500_000)
    before = processor_seconds(gateway.process.pid)
    begin, statuses = time.monotonic(), []

    def send():
        connection = connect(gateway.ports["http"], 60)
        head = (f"POST /v1/cdn-logs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {gateway.token}\r\n"
                f"Content-Encoding: gzip\r\nContent-Type: application/x-ndjson\r\nContent-Length: {len(body)}\r\n\r\n")
        try:
            connection.sendall(head.encode() + body)
            connection.settimeout(60)
            statuses.append(connection.recv(4096).split(b" ")[1].decode())
        except (OSError, IndexError) as error:
            statuses.append(type(error).__name__)

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    figures = {
        "KiB sent, each of four": len(body) // 1024, "answers": statuses, "seconds": round(time.monotonic() - begin, 1),
        "CPU s": round(processor_seconds(gateway.process.pid) - before, 1), "gaps s": show.gaps(),
    }
    show.end()
    return figures, figures["CPU s"] < 4


def processor_seconds(process):
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@attack("the mixer's process: what it may do and what it knows", environment={"SENTINEL_SECRET": "canary-of-the-gateway"})
def confinement(gateway):
    show = Show(gateway, {"flv": 1})
    mixer = gateway.mixers()["one"]
    status = open(f"/proc/{mixer}/status").read()
    environment = open(f"/proc/{mixer}/environ", "rb").read()
    limits = open(f"/proc/{mixer}/limits").read()
    figures = {
        "Seccomp": re.search(r"Seccomp:\s+(\d)", status).group(1),
        "NoNewPrivs": re.search(r"NoNewPrivs:\s+(\d)", status).group(1),
        "variables": environment.count(b"\0"), "canary": b"canary-of-the-gateway" in environment,
        "address space": re.search(r"Max address space\s+(\S+)", limits).group(1),
    }
    show.end()
    return figures, figures["Seccomp"] == "2" and figures["NoNewPrivs"] == "1" and not figures["canary"]
