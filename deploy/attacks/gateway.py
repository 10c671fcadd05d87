"""A gateway of this machine under attack: its process, its API, its hosts, and what is read of it while it is attacked."""

import http.client
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

HOST = "127.0.0.1"


def raise_descriptor_limit():
    """Lets this process open as many connections as the system allows."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def make_clip(folder):
    """Encodes ten seconds of a test picture and a tone once, so that hosts cost next to nothing afterwards."""
    clip = os.path.join(folder, "host.flv")
    subprocess.run(
        ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=15", "-f", "lavfi",
         "-i", "sine=frequency=440:sample_rate=48000", "-t", "10", "-c:v", "libx264", "-preset", "veryfast",
         "-tune", "zerolatency", "-pix_fmt", "yuv420p", "-g", "15", "-b:v", "400k", "-c:a", "aac", "-b:a", "64k",
         "-f", "flv", clip],
        check=True,
    )
    return clip


def make_certificate(folder):
    """Makes a certificate that vouches for itself; returns the settings of a gateway that uses it for HTTPS."""
    certificate, key = os.path.join(folder, "certificate.pem"), os.path.join(folder, "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
         "/CN=localhost", "-days", "2", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )
    return {
        "FOOTLIGHT_HTTPS_PORT": "0", "FOOTLIGHT_TLS_CERTIFICATE": certificate, "FOOTLIGHT_TLS_KEY": key,
    }


class Gateway:
    """A `footlight serve` on free ports, with a data folder and a log of its own."""

    def __init__(self, program, environment=None, descriptors=None, secure=False):
        self.program = program
        self.environment = dict(environment or {})
        self.descriptors = descriptors
        self.folder = tempfile.mkdtemp(prefix="footlight-attack-")
        self.data = os.path.join(self.folder, "data")
        self.log = os.path.join(self.folder, "log")
        self.clip = make_clip(self.folder)
        if secure:
            self.environment.update(make_certificate(self.folder))
        self.hosts = []
        self.process = None
        self.ports = {}
        self.start()

    # Processes

    def start(self, seconds=20):
        """Starts the gateway and waits until it is ready; returns the seconds that took."""
        begin = time.monotonic()
        command = [self.program, "serve", "--data-dir", self.data, "--host", HOST]
        for name in ("rtmp", "http", "admin"):
            # The same ports after a restart, as a service has.
            command += [f"--{name}-port", str(self.ports.get(name, 0))]
        if self.descriptors:
            command = ["prlimit", f"--nofile={self.descriptors}:{self.descriptors}"] + command
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command, env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT,
            )
        while time.monotonic() - begin < seconds:
            if self.process.poll() is not None:
                raise RuntimeError(f"the gateway ended with {self.process.returncode}:\n{self.tail()}")
            try:
                with open(os.path.join(self.data, "endpoints.json")) as file:
                    endpoints = json.load(file)
                if endpoints["pid"] == self.process.pid:
                    names = ("rtmp", "http", "admin", "https")
                    self.ports = {name: endpoints[f"{name}_port"] for name in names if f"{name}_port" in endpoints}
                    with open(os.path.join(self.data, "operator.token")) as file:
                        self.token = file.read().strip()
                    if self.request("GET", "/readyz", token=None)[0] == 200:
                        return time.monotonic() - begin
            except (OSError, ValueError, KeyError):
                pass
            time.sleep(0.05)
        raise RuntimeError("the gateway is not ready:\n" + self.tail())

    def signal(self, number):
        os.kill(self.process.pid, number)

    def wait(self, seconds=20):
        return self.process.wait(seconds)

    @property
    def is_alive(self):
        return self.process.poll() is None

    def end(self):
        """Ends the gateway and its hosts, and removes what they left."""
        self.end_hosts()
        if self.is_alive:
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
            try:
                self.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def end_hosts(self):
        for host in self.hosts:
            host.kill()
            host.wait()
        self.hosts = []

    # The API

    def request(self, method, path, body=None, token="", timeout=15, port=None, source=HOST):
        """Sends one request; returns the status, and the answer as JSON or bytes.

        The operator's token is sent unless another one, or None, is given.
        """
        connection = http.client.HTTPConnection(HOST, port or self.ports["http"], timeout=timeout, source_address=(source, 0))
        try:
            headers = {}
            if token is not None:
                headers["Authorization"] = "Bearer " + (token or self.token)
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            data = response.read()
        finally:
            connection.close()
        try:
            return response.status, json.loads(data)
        except ValueError:
            return response.status, data

    def must(self, method, path, body=None):
        status, answer = self.request(method, path, body)
        if status >= 300:
            raise RuntimeError(f"{method} {path} was answered {status}: {answer}")
        return answer

    def make_room(self, name, **settings):
        program = {"width": 640, "height": 360, "video_bitrate": 500, "frame_rate": 15, "preset": "ultrafast"}
        return self.must("POST", "/v1/rooms", {"unique_name": name, "program": program, **settings})

    def add_host(self, room, identity):
        """Adds a host to a room and lets it publish, again after each loss as an encoder does."""
        answer = self.must("POST", f"/v1/rooms/{room}/participants", {"identity": identity, "mode": "SEND_AND_RECV"})
        key = answer["ingest"]["rtmp"]["stream_key"]
        self.publish(key)
        return key

    def publish(self, key):
        url = f"rtmp://{HOST}:{self.ports['rtmp']}/live/{key}"
        loop = f"while :; do ffmpeg -v error -nostdin -re -stream_loop -1 -i '{self.clip}' -c copy -f flv '{url}'; sleep 0.5; done"
        self.hosts.append(EncoderLoop(loop))

    def put_on_air(self, room, hosts=1):
        """Makes a room with hosts and waits for its program; returns the stream keys."""
        self.make_room(room)
        keys = [self.add_host(room, f"host-{number}") for number in range(hosts)]
        self.wait_until_playable(room)
        return keys

    def wait_until_playable(self, room, seconds=30):
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            try:
                if self.request("GET", f"/live/{room}/index.m3u8", token=None)[0] == 200:
                    return time.monotonic() - begin
            except OSError:
                pass
            time.sleep(0.1)
        raise RuntimeError(f"{room} is not on air:\n{self.tail()}")

    def participant_token(self, room, identity="eve", mode="SEND_AND_RECV"):
        done = subprocess.run(
            [self.program, "token", "--data-dir", self.data, "--room", room, "--identity", identity, "--mode", mode],
            capture_output=True, text=True, check=True,
        )
        return done.stdout.strip()

    # Readings

    def resident(self, process=None):
        """Resident memory in MiB."""
        with open(f"/proc/{process or self.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) // 1024

    def open_descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def mixers(self):
        """The mixer processes: room to process identifier."""
        found = {}
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/stat") as file:
                    parent = int(file.read().rsplit(")", 1)[1].split()[1])
                if parent != self.process.pid:
                    continue
                with open(f"/proc/{entry}/cmdline") as file:
                    arguments = file.read().split("\0")
                if "mixer" in arguments:
                    found[arguments[arguments.index("--room") + 1]] = int(entry)
            except (OSError, ValueError):
                continue
        return found

    def tail(self, length=2000):
        with open(self.log, errors="replace") as file:
            return file.read()[-length:]

    def log_lines(self, word):
        with open(self.log, errors="replace") as file:
            return [line for line in file if word in line]


class EncoderLoop:
    """An encoder that connects again whenever it loses its connection, in a process group of its own."""

    def __init__(self, script):
        self.process = subprocess.Popen(
            ["bash", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def wait(self):
        self.process.wait()
