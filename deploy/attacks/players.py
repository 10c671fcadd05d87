"""Players that note each moment without media: RTMP, HTTP-FLV, HLS and low-latency HLS, in one thread."""

import asyncio
import random
import re
import struct
import threading
import time

from gateway import HOST

CHUNK = 128


# RTMP 1.0, as far as a player needs it.

def amf(value):
    if value is None:
        return b"\x05"
    if isinstance(value, bool):
        return b"\x01" + bytes([value])
    if isinstance(value, (int, float)):
        return b"\x00" + struct.pack(">d", value)
    if isinstance(value, dict):
        pairs = b"".join(struct.pack(">H", len(name)) + name.encode() + amf(item) for name, item in value.items())
        return b"\x03" + pairs + b"\x00\x00\x09"
    text = value.encode()
    return b"\x02" + struct.pack(">H", len(text)) + text


def command(*values):
    return b"".join(amf(value) for value in values)


def message(kind, payload, channel=3, stream=0, chunk=CHUNK):
    """One message as chunks (5.3.1 of RTMP 1.0)."""
    out = bytes([channel]) + bytes(3) + struct.pack(">I", len(payload))[1:] + bytes([kind]) + struct.pack("<I", stream)
    out += payload[:chunk]
    for index in range(chunk, len(payload), chunk):
        out += bytes([0xC0 | channel]) + payload[index:index + chunk]
    return out


def play_messages(name):
    return message(20, command("createStream", 2, None)) + message(20, command("play", 3, None, name), 8, 1)


async def rtmp_connect(port):
    reader, writer = await asyncio.wait_for(asyncio.open_connection(HOST, port), 5)
    try:
        writer.write(b"\x03" + bytes(1536))
        answer = await asyncio.wait_for(reader.readexactly(3073), 5)
        connect = command("connect", 1, {"app": "live", "tcUrl": f"rtmp://{HOST}/live"})
        writer.write(answer[1:1537] + message(20, connect))
        return reader, writer
    except BaseException:
        writer.close()
        raise


class Player:
    """One player, which connects again by itself, and what it went without."""

    def __init__(self, audience, protocol, room):
        self.audience = audience
        self.protocol = protocol
        self.room = room
        self.session = None
        self.last = None
        # Seconds without media that came to an end, with the moment of the end.
        self.gaps = []
        self.connections = 0
        self.refusals = {}

    def received(self, usual=0.0):
        """Media came; `usual` is how much later than the last that is in the nature of the protocol, in seconds."""
        now = time.monotonic()
        if self.last is not None:
            self.gaps.append((now, max(0.0, now - self.last - usual)))
        self.last = now

    def refused(self, what):
        self.refusals[what] = self.refusals.get(what, 0) + 1

    def longest_gap(self, since):
        ended = max((gap for end, gap in self.gaps if end >= since), default=0.0)
        open_gap = time.monotonic() - max(self.last or self.audience.begin, since)
        return max(ended, open_gap if self.protocol in ("rtmp", "flv") else 0.0)

    async def run(self):
        play = {"flv": self.play_flv, "rtmp": self.play_rtmp, "hls": self.play_hls, "llhls": self.play_hls}[self.protocol]
        wait = 0.1
        while True:
            begin = time.monotonic()
            try:
                await play()
            except (OSError, EOFError, asyncio.TimeoutError, asyncio.LimitOverrunError, ValueError) as error:
                self.refused(type(error).__name__)
            wait = 0.1 if time.monotonic() - begin > 3 else min(wait * 1.7, 1.0)
            await asyncio.sleep(wait * random.uniform(0.7, 1.3))

    async def read_media(self, reader):
        while True:
            # Some servers keep a silent connection open: then a player gives up.
            data = await asyncio.wait_for(reader.read(65536), 10)
            if not data:
                raise EOFError
            self.received()

    async def play_flv(self):
        reader, writer = await asyncio.wait_for(asyncio.open_connection(HOST, self.audience.ports["http"]), 5)
        try:
            query = f"?sid={self.session}" if self.session else ""
            writer.write(f"GET /live/{self.room}.flv{query} HTTP/1.1\r\nHost: player\r\n\r\n".encode())
            head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)).decode("latin-1")
            if " 200 " not in head.split("\r\n")[0]:
                return self.refused(head.split("\r\n")[0])
            self.connections += 1
            found = re.search(r"(?i)x-footlight-session: *(\S+)", head)
            self.session = found.group(1) if found else self.session
            await self.read_media(reader)
        finally:
            writer.close()

    async def play_rtmp(self):
        reader, writer = await rtmp_connect(self.audience.ports["rtmp"])
        try:
            writer.write(play_messages(self.room + (f"?sid={self.session}" if self.session else "")))
            head = b""
            while b"NetStream.Play.Start" not in head:
                data = await asyncio.wait_for(reader.read(4096), 10)
                head += data
                if not data or b"NetStream.Play.Failed" in head or b"StreamNotFound" in head:
                    return self.refused("NetStream.Play refused")
            self.connections += 1
            found = re.search(rb"sid[^A-Za-z0-9_-]{1,8}([A-Za-z0-9_-]{32})", head)
            self.session = found.group(1).decode() if found else self.session
            await self.read_media(reader)
        finally:
            writer.close()

    async def play_hls(self):
        """Plays the media playlist; with its session again and again, as players keep to the address that they know."""
        connection = HTTPConnection(self.audience.ports["http"])
        try:
            if not self.session:
                status, text = await connection.get(f"/live/{self.room}/index.m3u8")
                if status != 200:
                    return self.refused(status)
                lines = [line for line in text.decode().splitlines() if line and not line.startswith("#")]
                self.session = lines[0]
            self.connections += 1
            await self.follow(connection, f"/live/{self.room}/{self.session}")
        finally:
            connection.close()

    async def follow(self, connection, playlist):
        is_low_latency = self.protocol == "llhls"
        played, reload = None, ""
        while True:
            status, text = await connection.get(playlist + reload)
            if status != 200:
                self.refused(status)
                await asyncio.sleep(0.5)
                reload = ""
                continue
            text = text.decode()
            media, sequence, part_count = [], int(re.search(r"#EXT-X-MEDIA-SEQUENCE:(\d+)", text).group(1)), 0
            for line in text.splitlines():
                if line.startswith("#EXT-X-PART:"):
                    part_count += 1
                    if is_low_latency:
                        length = float(re.search(r"DURATION=([\d.]+)", line).group(1))
                        media.append((re.search(r'URI="([^"]+)"', line).group(1), length))
                elif line.startswith("#EXTINF:"):
                    length = float(line[8:].split(",")[0])
                elif line and not line.startswith("#"):
                    if not is_low_latency:
                        media.append((line, length))
                    sequence, part_count = sequence + 1, 0
            names = [name for name, _ in media]
            new = media[names.index(played) + 1:] if played in names else media[-1:]
            for name, length in new:
                status, _ = await connection.get(name if name.startswith("/") else f"/live/{self.room}/{name}")
                if status == 200:
                    played = name
                    self.received(usual=length)
                else:
                    self.refused(status)
            if is_low_latency:
                # Blocks until the next part is there (RFC 8216bis, 6.2.5.2).
                joint = "&" if "?" in playlist else "?"
                reload = f"{joint}_HLS_msn={sequence}&_HLS_part={part_count}"
            else:
                await asyncio.sleep(0.5)


class HTTPConnection:
    """A connection that is kept, and made again when it was closed."""

    def __init__(self, port):
        self.port = port
        self.streams = None

    async def get(self, path):
        is_kept = self.streams is not None
        try:
            return await self.exchange(path)
        except (OSError, EOFError):
            self.close()
            if not is_kept:
                raise
        return await self.exchange(path)

    async def exchange(self, path):
        if self.streams is None:
            self.streams = await asyncio.wait_for(asyncio.open_connection(HOST, self.port), 5)
        reader, writer = self.streams
        writer.write(f"GET {path} HTTP/1.1\r\nHost: player\r\n\r\n".encode())
        try:
            head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)).decode("latin-1")
            length = re.search(r"(?i)\r\ncontent-length: *(\d+)", head)
            body = await asyncio.wait_for(reader.readexactly(int(length.group(1)) if length else 0), 10)
        except BaseException:
            self.close()
            raise
        if re.search(r"(?i)\r\nconnection: *close", head):
            self.close()
        return int(head.split(" ")[1]), body

    def close(self):
        if self.streams:
            self.streams[1].close()
            self.streams = None


class Audience:
    """Players of a room in a thread of their own."""

    def __init__(self, ports, room, counts):
        self.ports = ports
        self.begin = time.monotonic()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.players = [Player(self, protocol, room) for protocol, count in counts.items() for _ in range(count)]
        self.tasks = [asyncio.run_coroutine_threadsafe(self.start(player), self.loop) for player in self.players]

    async def start(self, player):
        await asyncio.sleep(random.uniform(0, 1))
        await player.run()

    def mark(self):
        """A moment from which `gaps` counts."""
        return time.monotonic()

    def gaps(self, since):
        """The longest gap of each player since a moment, by protocol, in seconds."""
        found = {}
        for player in self.players:
            found.setdefault(player.protocol, []).append(player.longest_gap(since))
        return found

    def longest(self, since):
        return max(gap for gaps in self.gaps(since).values() for gap in gaps)

    def wait_until_playing(self, seconds=20):
        end = time.monotonic() + seconds
        while any(player.last is None for player in self.players):
            if time.monotonic() > end:
                raise RuntimeError(f"players do not play: {[player.refusals for player in self.players if not player.last]}")
            time.sleep(0.1)

    def end(self):
        async def cancel_all():
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(cancel_all(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)
