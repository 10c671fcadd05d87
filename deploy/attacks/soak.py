"""A show that goes on while every twenty seconds something happens to it."""

import os
import random
import signal
import statistics
import subprocess
import threading
import time

import attacks
from gateway import HOST, Gateway
from players import Audience, command, message, play_messages

EVERY = 20
PLAYERS = {"rtmp": 15, "flv": 15, "hls": 15, "llhls": 15}
DESCRIPTORS = 1024


class Platform:
    """An nginx that takes two outputs and keeps what it is sent."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "platform")
        os.makedirs(os.path.join(self.folder, "kept"))
        os.chmod(folder, 0o755)
        os.chmod(os.path.join(self.folder, "kept"), 0o777)
        self.port = attacks.free_datagram_port()
        configuration = os.path.join(self.folder, "nginx.conf")
        application = "live on; record all; record_unique on; record_path %s/kept;" % self.folder
        with open(configuration, "w") as file:
            file.write(
                "load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;\n"
                f"pid {self.folder}/pid; error_log {self.folder}/error.log; daemon off;\n"
                "events { worker_connections 64; }\n"
                f"rtmp {{ server {{ listen {HOST}:{self.port}; chunk_size 4096;\n"
                f"application first {{ {application} }} application second {{ {application} }} }} }}\n"
            )
        self.process = subprocess.Popen(
            ["nginx", "-p", self.folder, "-c", configuration], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def kept_seconds(self):
        """Seconds of video that each output's files hold together."""
        totals = {"first": 0.0, "second": 0.0}
        for name in os.listdir(os.path.join(self.folder, "kept")):
            path = os.path.join(self.folder, "kept", name)
            shown = subprocess.run(
                ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of", "csv=p=0",
                 path], capture_output=True, text=True)
            times = [float(line.strip(",")) for line in shown.stdout.split() if line.strip(",") not in ("", "N/A")]
            if len(times) > 1:
                totals[name.split("-")[0]] += max(times) - min(times)
        return totals

    def end(self):
        self.process.terminate()
        self.process.wait()


class SoakedShow:
    def __init__(self, program):
        self.gateway = Gateway(
            program, descriptors=DESCRIPTORS, environment={"FOOTLIGHT_OUTPUTS_ALLOW_PRIVATE": "true"})
        self.platform = Platform(self.gateway.folder)
        self.gateway.put_on_air("soak", hosts=2)
        self.start_outputs()
        self.audience = Audience(self.gateway.ports, "soak", PLAYERS)
        self.audience.wait_until_playing(40)

    def start_outputs(self):
        outputs = [
            {"name": name, "url": f"rtmp://{HOST}:{self.platform.port}/{name}", "stream_key": f"{name}-{time.time():.0f}"}
            for name in ("first", "second")
        ]
        self.gateway.must("POST", "/v1/rooms/soak/livestream/start", {"outputs": outputs})

    # What happens

    def kill(self):
        """The gateway is killed and started again a second later."""
        self.gateway.signal(signal.SIGKILL)
        self.gateway.wait()
        time.sleep(1)
        took = self.gateway.start()
        # Outputs' keys are written nowhere, so that whoever runs the show starts them again.
        self.start_outputs()
        return f"ready in {took:.2f} s"

    def stop_mixer(self):
        """The mixer hangs."""
        mixer = self.gateway.mixers().get("soak")
        if mixer:
            os.kill(mixer, signal.SIGSTOP)
        return f"mixer {mixer}"

    def stop_gateway(self):
        """The gateway stands still for two seconds."""
        self.gateway.signal(signal.SIGSTOP)
        time.sleep(2)
        self.gateway.signal(signal.SIGCONT)
        return ""

    def fill_descriptors(self):
        """More connections than the gateway may hold, for five seconds."""
        held = []
        for number in range(DESCRIPTORS + 300):
            try:
                held.append(attacks.connect(self.gateway.ports["http"], 1, source=f"127.0.{1 + number // 100}.66"))
            except OSError:
                pass
        time.sleep(5)
        used = self.gateway.open_descriptors()
        for connection in held:
            connection.close()
        return f"{used} descriptors of {DESCRIPTORS}"

    def send_aggregates(self):
        """Four players send aggregates full of commands."""
        body = attacks.amf_aggregate(4 << 20)
        size = message(1, (4 << 20).to_bytes(4, "big"), 2)
        closed = []

        def flood():
            try:
                with attacks.connect(self.gateway.ports["rtmp"]) as connection:
                    connection.settimeout(3)
                    connection.sendall(b"\x03" + bytes(1536))
                    answer = b""
                    while len(answer) < 3073:
                        piece = connection.recv(4096)
                        if not piece:
                            return closed.append(True)
                        answer += piece
                    connection.sendall(answer[1:1537] + message(20, command("connect", 1, {"app": "live"})))
                    connection.sendall(play_messages("soak"))
                    time.sleep(0.5)
                    for _ in range(3):
                        connection.sendall(size + message(22, body, 7, 1, 4 << 20))
            except OSError:
                closed.append(True)

        threads = [threading.Thread(target=flood) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return f"{len(closed)} of 4 closed"

    def drip(self):
        """Two hundred clients send a byte a second for ten seconds."""
        held = []
        for number in range(200):
            try:
                connection = attacks.connect(self.gateway.ports["http" if number % 2 else "rtmp"], 1)
                connection.sendall(b"GET /live/soak/index.m3u8 HTTP/1.1\r\nX: " if number % 2 else b"\x03")
                held.append(connection)
            except OSError:
                pass
        for _ in range(10):
            for connection in held:
                try:
                    connection.send(b"a" if connection.getpeername()[1] == self.gateway.ports["http"] else b"\0")
                except OSError:
                    pass
            time.sleep(1)
        for connection in held:
            connection.close()
        return f"{len(held)} clients"

    def storm(self):
        """Playlists are asked for by every wrong and right address."""
        return str(attacks.storm_playlists(self.gateway, "soak", 6))

    # Readings

    def viewers(self):
        try:
            status, answer = self.gateway.request("GET", "/v1/rooms/soak/viewership", timeout=3)
            return answer["concurrent_viewers"] if status == 200 else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def end(self):
        self.audience.end()
        self.gateway.end_hosts()
        self.platform.end()
        self.gateway.end()


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def soak(program, seconds):
    """Runs the show; returns whether nothing was lost and the counts were exact."""
    show = SoakedShow(program)
    try:
        return run(show, seconds)
    finally:
        show.end()


def run(show, seconds):
    truth = sum(PLAYERS.values())
    events = [
        show.kill, show.stop_mixer, show.stop_gateway, show.fill_descriptors, show.send_aggregates, show.drip, show.storm,
    ]
    gaps = {event.__name__: {protocol: [] for protocol in PLAYERS} for event in events}
    back, right, counted, memory = {event.__name__: [] for event in events}, 0, 0, []
    time.sleep(10)
    begin, order = time.monotonic(), []
    while time.monotonic() - begin < seconds:
        if not order:
            order = random.sample(events, len(events))
        event, since = order.pop(), show.audience.mark()
        said = event()
        returned = None
        while time.monotonic() - since < EVERY or (event == show.kill and time.monotonic() - since < EVERY + 5):
            viewers = show.viewers()
            is_settled = time.monotonic() - since > EVERY / 2
            if viewers == truth and returned is None:
                returned = time.monotonic() - since
            if is_settled and viewers is not None:
                counted += 1
                right += viewers == truth
            time.sleep(0.5)
        found = show.audience.gaps(since)
        for protocol, values in found.items():
            gaps[event.__name__][protocol] += values
        back[event.__name__].append(returned)
        memory.append(show.gateway.resident())
        longest = " ".join(f"{protocol} {max(values):.2f}" for protocol, values in found.items())
        print(f"{time.monotonic() - begin:6.0f} s {event.__name__:16} longest gap s: {longest}; "
              f"{truth} counted again after {'never' if returned is None else f'{returned:.1f} s'}; "
              f"{memory[-1]} MiB; {said}", flush=True)
    print(f"\n{'gaps in seconds':18}" + "".join(f"{name:>24}" for name in PLAYERS) + "\n" + f"{'':18}" +
          f"{'p50    p99    max':>24}" * len(PLAYERS))
    for name, by_protocol in gaps.items():
        cells = "".join(
            f"{statistics.median(values):10.2f} {percentile(values, 0.99):6.2f} {max(values):6.2f}" if values else f"{'-':>24}"
            for values in by_protocol.values())
        print(f"{name:18}{cells}")
    room = show.gateway.must("GET", "/v1/rooms/soak")
    figures = show.gateway.must("GET", "/v1/rooms/soak/viewership")
    hosts = show.gateway.must("GET", "/v1/rooms/soak/participants")["participants"]
    connected = [host["status"] for host in hosts]
    kept = show.platform.kept_seconds()
    refusals = {}
    for player in show.audience.players:
        for what, count in player.refusals.items():
            refusals[what] = refusals.get(what, 0) + count
    print(f"\nroom {room['status']}, hosts {connected}, joins {figures['joins']} of {truth}, "
          f"peak {figures['peak_concurrent_viewers']}, counts right in {right} of {counted} readings, "
          f"outputs kept {kept} s of {time.monotonic() - begin:.0f}, memory {memory[0]} to {memory[-1]} MiB, "
          f"refusals {refusals}")
    return (room["status"] == "in-progress" and connected == ["connected"] * 2 and figures["joins"] == truth
            and right >= 0.98 * counted and min(kept.values()) > 0.7 * (time.monotonic() - begin))
