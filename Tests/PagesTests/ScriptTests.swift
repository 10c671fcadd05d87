import Foundation
import Hummingbird
import Logging
import TestSupport
import Testing

@testable import Pages

@Suite("Page scripts in a browser", .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct ScriptTests {
    /// The results of a script and the expected ones.
    struct Claim {
        let what: String
        var needsPlaylist = false
        let script: String
        /// As JSON.
        let truth: String
    }

    @Test("playlist parsing, live edge, room state and text escaping work")
    func scripts() async throws {
        try await withPages { port in
            let browser = try await HeadlessBrowser()
            try await browser.open("http://127.0.0.1:\(port)/dashboard")
            #expect(try await browser.waits(for: "document.querySelector('#token')", within: .seconds(10)))
            for claim in Self.watchPage + Self.dashboard + Self.talkback {
                let beginning = claim.needsPlaylist ? Self.playlist : ""
                let said = try await browser.evaluate("(async () => { \(beginning) \(claim.script) })()")
                #expect(try said == JSONValue(parsing: claim.truth), "\(claim.what): \(said.text)")
            }
            let foreign = browser.requests.filter { !$0.hasPrefix("http://127.0.0.1:\(port)/") }
            #expect(foreign.allSatisfy { $0.hasPrefix("about:") || $0.hasPrefix("data:") }, "\(foreign)")
        }
    }

    private func withPages(_ body: (Int) async throws -> Void) async throws {
        let port = try FreePort.pick()
        let pages = PageSite(libraries: [:]) { _ in
            nil
        } audience: { _ in
            nil
        }
        let nothing = CallbackResponder<BasicRequestContext> { _, _ in Response(status: .notFound) }
        let server = Application(
            responder: pages.responder(before: nothing),
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
            logger: Logger(label: "pages") { _ in SwiftLogNoOpLogHandler() }
        )
        // The server ends with this function.
        async let _: Void = server.run()
        try await FreePort.waitUntilListening(port)
        try await body(port)
    }

    private static let playlist = """
        const { parseMedia, parseMultivariant, unitsOf, unitsAfter, firstUnit, nextPart } =
            await import('/site/watch/playlist.js');
        const text = ['#EXTM3U', '#EXT-X-TARGETDURATION:2',
            '#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5', '#EXT-X-PART-INF:PART-TARGET=0.5',
            '#EXT-X-MEDIA-SEQUENCE:4', '#EXT-X-MAP:URI="r/init0.mp4"',
            '#EXT-X-PROGRAM-DATE-TIME:2026-01-02T03:04:05.000Z', '#EXTINF:2.0,', 'r/s4.m4s',
            '#EXT-X-PART:DURATION=1.0,URI="r/s5.p0.m4s",INDEPENDENT=YES', '#EXT-X-PART:DURATION=1.0,URI="r/s5.p1.m4s"',
            '#EXTINF:2.0,', 'r/s5.m4s', '#EXT-X-DISCONTINUITY', '#EXT-X-MAP:URI="r/init1.mp4"',
            '#EXT-X-PROGRAM-DATE-TIME:2026-01-02T03:05:00.000Z',
            '#EXT-X-PART:DURATION=0.5,URI="r/s6.p0.m4s",INDEPENDENT=YES',
            '#EXT-X-PRELOAD-HINT:TYPE=PART,URI="r/s6.p1.m4s"', ''].join('\\n');
        const list = parseMedia(text, 'http://h/live/x/media.m3u8?sid=a');
        const units = unitsOf(list);
        """

    private static let watchPage: [Claim] = [
        Claim(
            what: "a playlist's parts and segments, with dates",
            needsPlaylist: true,
            script: """
                return units.map(({ sequence, index, discontinuity, date, map }) =>
                    [sequence, index, discontinuity, date - Date.UTC(2026, 0, 2, 3, 4, 5), map.slice(-5, -4)]);
                """,
            truth: #"[[4, null, 0, 0, "0"], [5, 0, 0, 2000, "0"], [5, 1, 0, 3000, "0"], [6, 0, 1, 55000, "1"]]"#
        ),
        Claim(
            what: "what comes next, and where to begin",
            needsPlaylist: true,
            script: """
                return [nextPart(list), list.hint, firstUnit(units, 1.5), firstUnit(units, 0.5), firstUnit(units, 9),
                    unitsAfter(units, { sequence: 5, index: 0 }).length, unitsAfter(units, units.at(-1)).length];
                """,
            truth: #"[{"sequence": 6, "part": 1}, "http://h/live/x/r/s6.p1.m4s", 1, 3, 0, 2, 0]"#
        ),
        Claim(
            what: "the renditions of a program",
            needsPlaylist: true,
            script: """
                return parseMultivariant('#EXTM3U\\n#EXT-X-STREAM-INF:BANDWIDTH=9,CODECS="avc1.4d,mp4a.40.2",'
                    + 'RESOLUTION=640x360,FRAME-RATE=30.000\\nmedia.m3u8?sid=b\\n', 'http://h/live/x/index.m3u8')[0];
                """,
            truth:
                #"{"bandwidth": 9, "averageBandwidth": 0, "codecs": "avc1.4d,mp4a.40.2", "width": 640, "height": 360, "frameRate": 30, "url": "http://h/live/x/media.m3u8?sid=b"}"#
        ),
        Claim(
            what: "small distances are made up by rate, large ones and holes by a jump",
            script: """
                const { LiveEdge } = await import('/site/watch/live-edge.js');
                const edge = new LiveEdge(1);
                const at = (position, ...ranges) => {
                    const { rate, seek } = edge.step({ now: 0, position, ranges });
                    return [Math.round(rate * 100), seek === null ? null : Math.round(seek * 100)];
                };
                const calm = [at(10, [5, 11]), at(10, [5, 12]), at(10, [5, 10.4]), at(10, [5, 20]),
                    at(10, [5, 9], [10.5, 11.5]), at(8.97, [5, 9], [9.1, 10])];
                edge.stalled(0);
                return [...calm, edge.target];
                """,
            truth: #"[[100, null], [110, null], [94, null], [100, 1900], [100, 1052], [100, 912], 1.25]"#
        ),
        Claim(
            what: "a hole is stepped over as soon as the browser stands still before it, and not before",
            script: """
                const { LiveEdge } = await import('/site/watch/live-edge.js');
                const edge = new LiveEdge(1);
                const at = (position, isStarved, ...ranges) => edge.step({ now: 0, position, isStarved, ranges }).seek;
                const hole = [[5, 14.72], [15.17, 15.37]];
                return [at(14.62, true, ...hole), at(14.62, false, ...hole), at(14.0, true, ...hole),
                    at(14.62, true, [5, 15.37])];
                """,
            truth: "[15.19, null, null, null]"
        ),
        Claim(
            what: "what another encoder begins is put where the media before it ends, however small the hole",
            script: """
                const { MSEPlayer } = await import('/site/watch/mse-player.js');
                const shifts = [];
                const joined = async (decoded, ...ranges) => {
                    let shift = null;
                    const buffer = { timestampOffset: -1 };
                    const queue = { ranges, buffer, shift: async (offset) => { shift = Math.round(offset * 1000); } };
                    await MSEPlayer.prototype.join.call({ queue }, decoded);
                    shifts.push(shift);
                };
                await joined(7.137, [2, 5.7]);
                await joined(6.25, [2, 5.7]);
                await joined(6.7, [2, 5.7]);
                await joined(3.7, [2, 5.7]);
                await joined(3.7);
                return shifts;
                """,
            truth: "[-1437, -550, null, 2000, null]"
        ),
        Claim(
            what: "the distance that is aimed at is the one after a part has come, and a part less before the next",
            script: """
                const { LiveEdge } = await import('/site/watch/live-edge.js');
                const edge = new LiveEdge(0.75, 0.25);
                const rate = (distance) =>
                    Math.round(edge.step({ now: 0, position: 10, ranges: [[5, 10 + distance]] }).rate * 1000);
                return [0.86, 0.75, 0.5, 0.39, 0.95, 0.3, 2.5, 0.05].map(rate);
                """,
            truth: "[1000, 1000, 1000, 1000, 1020, 980, 1100, 955]"
        ),
        Claim(
            what: "two stalls take a rendition down, a calm minute or more takes it up again",
            script: """
                const { Renditions } = await import('/site/watch/renditions.js');
                const all = [{ width: 640, bandwidth: 1 }, { width: 0, bandwidth: 0 }, { width: 1280, bandwidth: 5 }];
                const choice = new Renditions(all);
                const said = [choice.current.width, choice.stalled(1), choice.stalled(2), choice.current.width,
                    choice.stalled(3), choice.stalled(4), choice.calm(100, 9), choice.calm(130, 1),
                    choice.calm(130, 9), choice.current.width];
                choice.pick(all[1]);
                return [...said, choice.current.width, choice.stalled(200), choice.stalled(201)];
                """,
            truth: #"[1280, false, true, 640, false, false, false, false, true, 1280, 0, false, false]"#
        ),
        Claim(
            what: "a page goes on by the session and the token that it had, and without those that are none any more",
            script: """
                const { Program } = await import('/site/watch/program.js');
                const { fetch } = globalThis;
                const { run } = Program.prototype;
                Program.prototype.run = () => undefined;
                const asked = [];
                globalThis.fetch = async (url) => {
                    asked.push(url);
                    const answer = new Response('', { status: url.includes('old') ? 403 : 200 });
                    return Object.defineProperty(answer, 'url', { value: `http://h${url}` });
                };
                const program = new Program(document.createElement('video'), '/live/show/index.m3u8');
                const shown = [[null, null], ['a+b', null], ['old', null], [null, 't'], ['old', 't'], ['old', 'older']];
                for (const [sid, token] of shown) {
                    Object.assign(program, { sid, token });
                    await program.takePlaylist();
                }
                Object.assign(globalThis, { fetch });
                Program.prototype.run = run;
                return [asked.map((url) => url.slice('/live/show/index.m3u8'.length)), program.sid, program.token];
                """,
            truth: #"""
                [["", "?sid=a%2Bb", "?sid=old", "", "?token=t", "?sid=old&token=t", "?token=t",
                    "?sid=old&token=older", "?token=older", ""], null, null]
                """#
        ),
        Claim(
            what: "an id of the device is kept while it is wanted, stays the same, and goes with every playlist",
            script: """
                const { deviceID } = await import('/site/watch/device.js');
                const { Program } = await import('/site/watch/program.js');
                const kept = () => localStorage.getItem('footlight.device');
                const said = [deviceID(false), kept()];
                const id = deviceID(true);
                said.push(/^[0-9a-f]{32}$/.test(id), kept() === id, deviceID(true) === id);
                localStorage.setItem('footlight.device', 'me');
                said.push(deviceID(true) !== 'me', deviceID(true) !== id, deviceID(false), kept());
                const { run } = Program.prototype;
                Program.prototype.run = () => undefined;
                for (const device of ['0f', null]) {
                    const program = new Program(document.createElement('video'), '/live/show/index.m3u8', device);
                    said.push(program.ownAddress, program.named('http://h/live/show/media.m3u8?sid=a%2Bb'));
                    program.sid = 'a+b';
                    said.push(program.ownAddress);
                }
                Program.prototype.run = run;
                return said;
                """,
            truth: #"""
                [null, null, true, true, true, true, true, null, null,
                    "/live/show/index.m3u8?did=0f", "http://h/live/show/media.m3u8?sid=a%2Bb&did=0f",
                    "/live/show/index.m3u8?sid=a%2Bb&did=0f",
                    "/live/show/index.m3u8", "http://h/live/show/media.m3u8?sid=a%2Bb",
                    "/live/show/index.m3u8?sid=a%2Bb"]
                """#
        ),
        Claim(
            what: "who finds no program waits, who finds no room is told that, and both are let in by themselves",
            script: """
                const { Program } = await import('/site/watch/program.js');
                const { fetch } = globalThis;
                const states = [];
                const full = ['{"error":{"code":53006}}', { 'Content-Type': 'application/json; charset=utf-8' }];
                for (const [status, body, headers] of [[404], [503, ...full], [503, 'on its way back'], [500]]) {
                    globalThis.fetch = async (url) => Object.defineProperty(new Response(body ?? '', { status, headers }),
                        'url', { value: `http://h${url}` });
                    const program = new Program(document.createElement('video'), '/live/show/index.m3u8');
                    await new Promise((resolve) => setTimeout(resolve, 50));
                    states.push(program.state);
                    const isTriedAgain = new Promise((resolve) => {
                        program.playOnce = () => { resolve(true); return new Promise(() => undefined); };
                    });
                    states.push(await isTriedAgain);
                }
                Object.assign(globalThis, { fetch });
                return states;
                """,
            truth: #"["waiting", true, "full", true, "waiting", true, "failed", true]"#
        ),
        Claim(
            what: "keys are the player's while it has the focus, which it keeps when its sound was turned on",
            script: """
                const { Controls } = await import('/site/watch/controls.js');
                const { h } = await import('/site/shared/element.js');
                const video = h('video', { tabindex: -1 });
                const stage = h('section', {}, video, h('div', { class: 'bar' }));
                const field = h('input');
                document.body.append(stage, field);
                const program = Object.assign(new EventTarget(), { state: 'playing', play: () => undefined });
                const controls = new Controls({ stage, video, program });
                const press = (place) => {
                    place.dispatchEvent(new KeyboardEvent('keydown', { key: 'm', bubbles: true }));
                    return video.muted;
                };
                const said = [document.body, field, controls.volume, video, controls.playButton].map(press);
                video.muted = true;
                controls.unmute.click();
                said.push(video.muted, document.activeElement === video);
                stage.remove();
                field.remove();
                return said;
                """,
            truth: "[false, false, true, false, true, false, true]"
        ),
        Claim(
            what: "a beacon is a line of CMCD version 2",
            script: """
                const { Beacon } = await import('/site/watch/beacon.js');
                const beacon = new Beacon('/v1/cmcd', 'show', () => ({ sid: 's"1', bitrate: 2500400, buffer: 1.234,
                    latency: 987.6, isLowLatency: true }));
                beacon.state = 'r';
                return beacon.line('ps').replace(/ts=\\d+/, 'ts=T');
                """,
            truth: #""bl=(1230),br=(2500),bs,cid=\"show\",e=ps,ltc=988,sf=h,sid=\"s\\\"1\",st=ll,sta=r,ts=T,v=2\n""#
        ),
    ]
}

extension ScriptTests {
    /// The checks of the dashboard's scripts.
    static let dashboard: [Claim] = [
        Claim(
            what: "events make a state, old ones change nothing",
            script: """
                const { afterEvent, unknownRoom } = await import('/site/dashboard/room-state.js');
                const events = [
                    { type: 'room.snapshot', rev: 3, room: { status: 'in-progress', egress: {} }, participants: [] },
                    { type: 'participant.joined', rev: 4, participant: { sid: 'a', n: 1 } },
                    { type: 'participant.updated', rev: 5, participant: { sid: 'a', n: 2 } },
                    { type: 'participant.updated', rev: 4, participant: { sid: 'a', n: 9 } },
                    { type: 'participant.joined', rev: 6, participant: { sid: 'b', n: 1 } },
                    { type: 'participant.left', rev: 7, participant: { sid: 'b', n: 1 } },
                    { type: 'heartbeat', rev: 7 }, { type: 'room.ended', rev: 8 },
                ];
                const state = events.reduce(afterEvent, unknownRoom);
                return [state.participants, state.revision, state.isEnded];
                """,
            truth: #"[[{"sid": "a", "n": 2}], 8, true]"#
        ),
        Claim(
            what: "minutes that a series leaves out had nobody",
            script: """
                const { readSeries } = await import('/site/dashboard/history.js');
                const point = (minute, group, viewers) => ({ at: `2026-01-02T03:0${minute}:00.000Z`, group,
                    average_viewers: viewers });
                const points = [point(4, 'hls', 2.5), point(4, 'rtmp', 1), point(6, 'hls', 4)];
                return readSeries({ step: 60, points }).map(({ at, values }) =>
                    [at - Date.UTC(2026, 0, 2, 3, 4), values.hls, values.rtmp, values.flv])
                    .concat([readSeries({ step: 60, points: [] }).length]);
                """,
            truth: #"[[30000, 2.5, 1, 0], [90000, 0, 0, 0], [150000, 4, 0, 0], 0]"#
        ),
        Claim(
            what: "an episode is shown from ten minutes before it went live, and its marks are in order and within it",
            script: """
                const { marksOf, rangeOf, stepOf, retentionStepOf, withEdges } = await import('/site/dashboard/episode-figures.js');
                const at = (minute) => `2026-01-02T20:${minute}:00.000Z`;
                const episode = { opened_at: at('00'), went_live_at: at('30'), ended_at: at('50') };
                const summary = { began_at: at('00'), peak_at: at('40'), peak_viewers: 1200 };
                const range = rangeOf(episode, summary, 0);
                const moments = [{ at: at('05'), kind: 'host_joined', name: 'Ann' }, { at: at('45'), kind: 'host_left', name: 'Ann' },
                    { at: at('35'), kind: 'layout_changed', name: 'GRID' }, { at: at('36'), kind: 'of_tomorrow', name: '' }];
                const minutes = (moment) => (moment - Date.parse(at('00'))) / 60000;
                return [minutes(range.begin), minutes(range.end), minutes(range.live), stepOf(range), retentionStepOf(range),
                    stepOf({ begin: 0, end: 86_400_000 }), retentionStepOf({ begin: 0, end: 86_400_000 }),
                    marksOf(episode, moments, summary, range).map((mark) => [mark.number, minutes(mark.at), mark.text]),
                    minutes(rangeOf({ opened_at: at('00') }, summary, Date.parse(at('59'))).end),
                    withEdges([{ at: 30_000 }, { at: 90_000 }], { begin: 10_000, end: 300_000 }, 60).map((point) => point.at / 1000),
                    withEdges([], range, 60).length];
                """,
            truth: #"""
                [20, 50, 30, 60, 10, 240, 240, [[1, 30, "Went live"], [2, 35, "Layout: grid"], [3, 40, "Most viewers: 1,200"],
                    [4, 45, "Ann went"], [5, 50, "Ended"]], 59, [10, 30, 90, 120], 0]
                """#
        ),
        Claim(
            what: "two episodes are laid one over the other from the moment at which they went live",
            script: """
                const { sinceLive } = await import('/site/dashboard/episode-figures.js');
                const { comparedRows } = await import('/site/dashboard/episode-comparison.js');
                const point = (at, hls, rtmp) => ({ at, values: { llhls: 0, hls, rtmp, flv: 0, whep: 0, sdk: 0 } });
                const summary = (joins) => ({ joins, uniques: { devices: joins }, peak_viewers: 1, average_viewers: 0.5,
                    watch_hours: 0.5, average_watch_seconds: 60, average_startup_seconds: null, rebuffer_ratio: 0.02 });
                const stayed = (...shares) => shares.map((share, index) =>
                    ({ after_seconds: (index + 1) * 60, joins: 4, watching: share * 4, share }));
                const rows = comparedRows({ summary: summary(10), retention: stayed(0.5, 0.25) },
                    { summary: summary(1200), retention: stayed(0.75) });
                return [sinceLive([point(30_000, 9, 0), point(90_000, 2, 1), point(150_000, 3, 0.5)], 60_000),
                    rows[0], rows[6], rows[7], rows.slice(8)];
                """,
            truth: #"""
                [[{"x": 30000, "y": 3}, {"x": 90000, "y": 3.5}], ["Joins", "10", "1,200"], ["Time to start", "not known", "not known"],
                    ["Interrupted", "2.0 %", "2.0 %"], [["Still watching after 1:00", "50 %", "75 %"]]]
                """#
        ),
        Claim(
            what: "retention goes as far as anybody could have watched, and its table has a handful of times",
            script: """
                const { retentionCurve, retentionRows } = await import('/site/dashboard/episode-figures.js');
                const points = [0, 30, 60, 90, 120, 150].map((after) =>
                    ({ after_seconds: after, joins: after < 150 ? 8 : 0, watching: 4, share: after ? 0.5 : 1 }));
                return [retentionCurve(points).map(({ x, y }) => [x, y]), retentionRows(points).map((row) => row.after_seconds),
                    retentionCurve([]), retentionRows([])];
                """,
            truth: "[[[0, 100], [30000, 50], [60000, 50], [90000, 50], [120000, 50]], [30, 60, 120], [], []]"
        ),
        Claim(
            what: "groups are in order of their watch time, and have names and parts",
            script: """
                const { groupings, groupsOf } = await import('/site/dashboard/episode-figures.js');
                const groups = (entries) => Object.fromEntries(entries.map(([key, seconds]) => [key, { watch_time_seconds: seconds }]));
                const summary = { by_protocol: groups([['hls', 25], ['rtmp', 75]]), by_region: groups([['', 0], ['DE', 0], ['US-CA', 0]]),
                    by_rendition: groups([['', 1]]), by_client: groups([['tool', 1], ['web', 3]]) };
                return groupings.map(({ title, of, nameOf }) =>
                    [title, groupsOf(of(summary), nameOf).map(({ name, part }) => `${name} ${part}`)]);
                """,
            truth: #"""
                [["By protocol", ["RTMP 0.75", "HLS 0.25"]], ["By region", ["Germany 0", "United States-CA 0", "Unknown 0"]],
                    ["By rendition", ["Full size 1"]], ["By player", ["Browser 0.75", "Other player 0.25"]]]
                """#
        ),
        Claim(
            what: "an episode's report says how final it is, what its figures mean, and what happened",
            script: """
                const { episodeReport } = await import('/site/dashboard/episode-report.js');
                const { fetch } = globalThis;
                const slice = { joins: 2, average_viewers: 1, peak_viewers: null, watch_time_seconds: 90 };
                const summary = { settled: true, began_at: '2026-01-02T20:00:00Z', ended_at: '2026-01-02T20:10:00Z', joins: 2,
                    uniques: { users: 0, devices: 2, estimated: 1, approximate: false }, peak_viewers: 2, live_peak_viewers: 2,
                    peak_at: '2026-01-02T20:05:00Z', peak_kind: 'settled', peak_note: null, average_viewers: 1, leaves: 2, switches: 0,
                    average_minute_audience: 1, watch_hours: 0.025, average_watch_seconds: 45, average_startup_seconds: 0.25,
                    rebuffer_ratio: 0, stalled_seconds: 0, coverage: null, excluded: { robot: 3, probe: 0 }, on_air_seconds: 600,
                    by_protocol: { hls: slice }, by_region: { '': slice }, by_rendition: { '': slice }, by_client: { web: slice } };
                const answers = {
                    '/v1/shows/x/episodes/EP1': { id: 'EP1', number: 3, title: '', state: 'ended', room_sid: 'RM1',
                        opened_at: '2026-01-02T20:00:00Z', went_live_at: '2026-01-02T20:01:00Z', ended_at: '2026-01-02T20:10:00Z' },
                    '/v1/shows/x/episodes/EP1/moments': { moments: [{ at: '2026-01-02T20:02:00Z', kind: 'host_joined', name: '<b>Ann</b>' }] },
                    '/v1/rooms/RM1/viewership/summary': summary,
                    '/v1/rooms/RM1/viewership/retention': { points: [0, 60].map((after) =>
                        ({ after_seconds: after, joins: 2, watching: 2 - after / 60, share: 1 - after / 120 })) },
                    '/v1/rooms/RM1/viewership/timeseries': { step: 60, points: [
                        { at: '2026-01-02T20:02:00.000Z', group: 'hls', average_viewers: 1.5 }] },
                };
                globalThis.fetch = async (path) => new Response(JSON.stringify(answers[path.split('?')[0]]),
                    { headers: { 'Content-Type': 'application/json' } });
                const report = episodeReport({ base: '/v1/shows/x', name: 'x', id: 'EP1', other: null, showTitle: () => 'Show' });
                document.body.append(report.element);
                await new Promise((resolve) => setTimeout(resolve, 200));
                const texts = (query) => [...report.element.querySelectorAll(query)].map((one) => one.textContent);
                const found = [texts('h2')[0], texts('.badge'), texts('.sentences .value').slice(0, 2), texts('.marks li').length,
                    texts('.marks li')[1].endsWith('<b>Ann</b> came'), texts('.figure-table').length,
                    texts('.downloads button').length, report.element.textContent.includes('robot 3')];
                report.close();
                report.element.remove();
                Object.assign(globalThis, { fetch });
                return found;
                """,
            truth: #"""
                ["Show: Episode 3", ["final"], ["2", "2"], 4, true, 6, 4, true]
                """#
        ),
        Claim(
            what: "a name that looks like markup is shown as it is",
            script: """
                const { layoutPreview } = await import('/site/dashboard/layout-preview.js');
                const { hostsPanel } = await import('/site/dashboard/hosts-panel.js');
                const name = '<img src=x onerror=alert(1)>';
                const hosts = hostsPanel('show', { mayCommand: true });
                hosts.update([{ sid: 'a', identity: 'a', display_name: name, mode: 'SEND_AND_RECV', status: 'connected',
                    tracks: [], audio_level: null, pin: null, sync: null }]);
                const preview = layoutPreview();
                preview.update({ width: 1280, height: 720, tiles: [{ x: 0, y: 0, width: 1280, height: 720, label: name,
                    source: 'camera', mic_on: true }] });
                document.body.append(hosts.element, preview.element);
                return [hosts.element.querySelector('.name').textContent, document.querySelectorAll('[onerror]').length,
                    preview.element.querySelector('.label').textContent];
                """,
            truth: #"["<img src=x onerror=alert(1)>", 0, "<img src=x onerror=alert(1)>"]"#
        ),
        Claim(
            what: "scenes know which of them is on air, also after a change by hand, and keep their order",
            script: """
                const { isSameLayout, moved, sceneOnAir, settingsOf, withScene } =
                    await import('/site/dashboard/scene-list.js');
                const grid = { type: 'GRID', logo: null, overlays: { name: true, mic: false } };
                const large = { overlays: { mic: false, name: true }, type: 'SPOTLIGHT', rotate_every: 0 };
                const scenes = [['a', grid], ['b', large], ['c', grid]].map(([name, layout]) => ({ name, layout }));
                const onAir = (layout, taken) => Object.values(sceneOnAir(scenes, layout, taken));
                const live = { ...large, slates: { ended: null }, width: 1280, height: 720, tiles: [{ position: 0 }] };
                const names = (list) => list.map(({ name }) => name).join('');
                return [onAir(grid, null), onAir(grid, 'c'), onAir(live, 'a'), onAir({ ...live, theme: 'DARK' }, 'b'),
                    onAir({ type: 'SIDEBAR' }, null), onAir(null, 'b'), settingsOf({ ...grid, slates: {}, tiles: [], width: 1, height: 1 }),
                    names(moved(scenes, 'a', 1)), names(moved(scenes, 'a', -1)), names(moved(scenes, 'c', -1)),
                    withScene(scenes, { name: 'b', layout: grid })[1].layout === grid,
                    withScene(scenes, { name: 'd', layout: grid }).length];
                """,
            truth: #"""
                [[0, false], [2, false], [1, false], [1, true], [-1, false], [1, false],
                    {"rotate_every": 0, "type": "GRID", "logo": null, "overlays": {"name": true, "mic": false}},
                    "bac", "abc", "acb", true, 4]
                """#
        ),
        Claim(
            what: "keys take scenes while no field has the focus, and none once they are turned off",
            script: """
                const { scenesPanel } = await import('/site/dashboard/scenes-panel.js');
                const { fetch } = globalThis;
                const scenes = [['a b', 'GRID'], ['c', 'SPOTLIGHT']].map(([name, type]) => ({ name, layout: { type } }));
                const tiles = { width: 1, height: 1, tiles: [] };
                const taken = [];
                globalThis.fetch = async (path) => {
                    const name = /scenes.(.+).take$/.exec(path)?.[1];
                    if (name) taken.push(name);
                    const scene = scenes.find((one) => encodeURIComponent(one.name) === name);
                    return new Response(JSON.stringify({ ...tiles, ...scene?.layout }),
                        { headers: { 'Content-Type': 'application/json' } });
                };
                const panel = scenesPanel({ base: '/v1/shows/x', room: 'x', mayCommand: true });
                document.body.append(panel.element, panel.next);
                panel.update({ scenes, current: null });
                panel.air({ ...tiles, type: 'SIDEBAR' });
                const said = [];
                const press = async (key, target = document.body) => {
                    target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
                    await new Promise((resolve) => setTimeout(resolve, 30));
                    const badges = [...panel.element.querySelectorAll('.scene .badge')];
                    said.push(badges.map((badge) => (badge.hidden ? '' : badge.textContent)).join());
                };
                for (const key of [' ', ' ', ' ', 'Backspace']) await press(key);
                await press('2', panel.element.querySelector('[name=scene]'));
                await press('2');
                const isOn = panel.element.querySelector('[type=checkbox]');
                isOn.click();
                await press('1');
                isOn.click();
                panel.close();
                panel.element.remove();
                panel.next.remove();
                Object.assign(globalThis, { fetch });
                return [taken, said];
                """,
            truth: #"""
                [["a%20b", "c", "a%20b", "c"],
                    ["On air,Next", ",On air", ",On air", "On air,Next", "On air,Next", ",On air", ",On air"]]
                """#
        ),
        Claim(
            what: "names of files and initials of hosts are made of what people write",
            script: """
                const { fileName } = await import('/site/dashboard/files-panel.js');
                const { initialsOf } = await import('/site/dashboard/host-picture.js');
                return [...['Logo Öst (2).PNG', '.hidden', '日本.jpg', 'a.tar.gz', 'x'.repeat(80) + '.jpeg', '']
                    .map(fileName), ...['Ann Lee', 'bo', 'Ann van der Lee', '😀 x', ''].map(initialsOf)];
                """,
            truth: #"""
                ["Logo-Ost-2-.PNG", "hidden", "jpg", "a.tar.gz", "\#(String(repeating: "x", count: 59)).jpeg", "file",
                    "AL", "B", "AL", "😀X", ""]
                """#
        ),
        Claim(
            what: "files have all pages and the whole broadcast, and their header once",
            script: """
                const { downloads } = await import('/site/dashboard/downloads.js');
                const { fetch } = globalThis;
                const { createObjectURL } = URL;
                const { click } = HTMLAnchorElement.prototype;
                const asked = [];
                const kept = [];
                let blob = null;
                URL.createObjectURL = (made) => { blob = made; return 'data:,'; };
                HTMLAnchorElement.prototype.click = function () { kept.push([this.download, blob.text()]); };
                const table = (text, next) => new Response(text,
                    { headers: { 'Content-Type': 'text/csv', ...(next && { 'X-Next-Page-Token': next }) } });
                globalThis.fetch = async (path) => {
                    asked.push(path);
                    if (path.endsWith('/summary')) {
                        const times = { began_at: '2026-01-01T00:00:00Z', ended_at: '2026-01-15T00:00:00Z' };
                        return new Response(JSON.stringify(times), { headers: { 'Content-Type': 'application/json' } });
                    }
                    if (!path.includes('/sessions.csv')) return table('h\\r\\nx\\r\\n');
                    if (path.endsWith('&page_token=a-2')) return table('id\\r\\n3\\r\\n');
                    return path.endsWith('&page_token=a-1') ? table('id\\r\\n2\\r\\n', 'a-2')
                        : table('id\\r\\n1\\r\\n', 'a-1');
                };
                const buttons = ['show', null].flatMap((room) => [...downloads(room).querySelectorAll('button')]);
                for (const button of buttons) {
                    const before = kept.length;
                    button.click();
                    while (kept.length === before) await new Promise((resolve) => setTimeout(resolve, 5));
                }
                Object.assign(globalThis, { fetch });
                Object.assign(URL, { createObjectURL });
                Object.assign(HTMLAnchorElement.prototype, { click });
                const texts = await Promise.all(kept.map(async ([name, text]) => [name, await text]));
                const day = (path) => path.replace(/from=([^&]+)/, (match, from) =>
                    Math.abs(Date.now() - Date.parse(from) - 86_400_000) < 60_000 ? 'from=DAY' : match);
                const plain = (path) => decodeURIComponent(path).replace('/v1/rooms/show/viewership/', '');
                return [texts, asked.map((path) => day(plain(path)))];
                """,
            truth: #"""
                [[["show-timeline.csv", "h\r\nx\r\n"], ["show-summary.csv", "h\r\nx\r\n"],
                    ["show-retention.csv", "h\r\nx\r\n"],
                    ["show-sessions.csv", "id\r\n1\r\n2\r\n3\r\n"], ["all-timeline.csv", "h\r\nx\r\n"],
                    ["all-summary.csv", "h\r\nx\r\n"], ["all-rooms.csv", "h\r\nx\r\n"]],
                ["summary",
                    "timeseries.csv?from=2026-01-01T00:00:00Z&step=180&group_by=protocol&to=2026-01-15T00:00:00Z",
                    "summary.csv", "retention.csv", "sessions.csv?page_size=50000", "sessions.csv?page_size=50000&page_token=a-1",
                    "sessions.csv?page_size=50000&page_token=a-2",
                    "/v1/viewership/timeseries.csv?from=DAY&step=60&group_by=protocol", "/v1/viewership/summary.csv", "/v1/viewership.csv"]]
                """#
        ),
        Claim(
            what: "all rooms together have a peak, and a badge",
            script: """
                const { overviewView } = await import('/site/dashboard/overview-view.js');
                const { fetch, EventSource } = globalThis;
                let tell = null;
                globalThis.EventSource = class {
                    addEventListener(name, listener) { tell = listener; }
                    close() {}
                };
                globalThis.fetch = () => new Promise(() => undefined);
                const view = overviewView({ onHealth: () => undefined });
                const total = { concurrent_viewers: 1200, peak_concurrent_viewers: 4321, recovering: true,
                    peak_at: new Date(2026, 0, 2, 20, 15).toISOString(), by: { protocol: { hls: 1200 } } };
                const said = [];
                for (const change of [{}, { peak_at: null, recovering: false }]) {
                    tell({ data: JSON.stringify({ total: { ...total, ...change }, rooms: [] }) });
                    said.push(view.element.querySelector('.total').firstElementChild.textContent);
                }
                view.close();
                Object.assign(globalThis, { fetch, EventSource });
                return said;
                """,
            truth: #"""
                ["Watching nowrecovering1,200in 0 rooms · peak 4,321 at 20:15",
                    "Watching nowprovisional1,200in 0 rooms"]
                """#
        ),
        Claim(
            what: "a room's figures are provisional, recovering after a restart, and final once it is over",
            script: """
                const { figuresPanel } = await import('/site/dashboard/figures-panel.js');
                const { fetch } = globalThis;
                const summary = { settled: true, peak_viewers: 30, peak_at: new Date(2026, 0, 2, 20, 15).toISOString(),
                    average_minute_audience: 12.34 };
                let answer = null;
                globalThis.fetch = () => new Promise((resolve) => { answer = resolve; });
                const panel = figuresPanel('show');
                const figures = { concurrent_viewers: 0, devices: 0, joins: 41, peak_concurrent_viewers: 33, peak_at: null,
                    watch_time_seconds: 90, stale_ms: 0, as_of: '2026-01-02T20:30:00Z', recovering: false,
                    by: { protocol: {} } };
                const said = [];
                const update = (change) => {
                    panel.update({ ...figures, ...change });
                    const badge = panel.element.querySelector('.card-head').lastElementChild;
                    const values = [...panel.element.querySelectorAll('dd:not(.note)')].slice(0, 2);
                    said.push([badge.textContent, badge.className, ...values.map((value) => value.textContent)]);
                };
                update({});
                update({ recovering: true });
                answer(new Response(JSON.stringify(summary), { headers: { 'Content-Type': 'application/json' } }));
                await new Promise((resolve) => setTimeout(resolve, 50));
                update({});
                update({ recovering: true });
                panel.close();
                Object.assign(globalThis, { fetch });
                return said;
                """,
            truth: #"""
                [["provisional", "badge ", "33", "–"], ["recovering", "badge warn", "33", "–"],
                    ["final", "badge good", "30", "12.3"], ["recovering", "badge warn", "30", "12.3"]]
                """#
        ),
        Claim(
            what: "a room's page tells of a gateway that takes its viewers over, by question and by event",
            script: """
                const { roomView } = await import('/site/dashboard/room-view.js');
                const { fetch, EventSource } = globalThis;
                const listeners = {};
                globalThis.EventSource = class {
                    addEventListener(name, listener) { listeners[name] = listener; }
                    close() {}
                };
                const figures = { concurrent_viewers: 5, devices: 5, joins: 5, peak_concurrent_viewers: 5, peak_at: null,
                    watch_time_seconds: 90, stale_ms: 0, as_of: '2026-01-02T20:30:00Z', recovering: true,
                    by: { protocol: { hls: 5 } } };
                globalThis.fetch = async (path) => path === '/v1/rooms/show/viewership'
                    ? new Response(JSON.stringify(figures), { headers: { 'Content-Type': 'application/json' } })
                    : new Promise(() => undefined);
                const view = roomView('show', { mayCommand: true, onHealth: () => undefined });
                const badge = view.element.querySelector('.figures .card-head').lastElementChild;
                await new Promise((resolve) => setTimeout(resolve, 50));
                const said = [badge.textContent];
                const event = { type: 'viewership.updated', rev: 1, viewership: { ...figures, recovering: false } };
                listeners['viewership.updated']({ data: JSON.stringify(event) });
                said.push(badge.textContent);
                view.close();
                Object.assign(globalThis, { fetch, EventSource });
                return said;
                """,
            truth: #"["recovering", "provisional"]"#
        ),
        Claim(
            what: "figures that come by themselves are fresh for twenty seconds, and no more once their stream breaks",
            script: """
                const { TotalsStream } = await import('/site/dashboard/totals-stream.js');
                const real = { now: Date.now, EventSource };
                let at = 1e12, source;
                Date.now = () => at;
                window.EventSource = class extends EventTarget {
                    static CLOSED = 2;
                    constructor(url) { super(); source = this; this.url = url; this.readyState = 1; }
                    close() { this.readyState = 2; }
                };
                const tell = (viewers) => source.dispatchEvent(
                    new MessageEvent('viewership', { data: JSON.stringify({ viewers }) }));
                try {
                    const seen = [], fresh = [];
                    const stream = new TotalsStream(({ viewers }) => seen.push(viewers));
                    const look = (later) => { at += later; fresh.push(stream.isFresh); };
                    look(0);
                    tell(3); look(0); look(19_999); look(1);
                    tell(4); look(15_000);
                    source.onerror(); look(0);
                    tell(5); look(0);
                    stream.close();
                    return [seen, fresh, source.url, source.readyState];
                } finally {
                    Date.now = real.now;
                    window.EventSource = real.EventSource;
                }
                """,
            truth: """
                [[3, 4, 5], [false, true, true, false, true, false, true], "/v1/viewership/events", 2]
                """
        ),
    ]
}
