extension ScriptTests {
    /// What the dashboard's scripts say.
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
                    ["show-sessions.csv", "id\r\n1\r\n2\r\n3\r\n"], ["all-timeline.csv", "h\r\nx\r\n"],
                    ["all-summary.csv", "h\r\nx\r\n"], ["all-rooms.csv", "h\r\nx\r\n"]],
                ["summary",
                    "timeseries.csv?from=2026-01-01T00:00:00Z&step=180&group_by=protocol&to=2026-01-15T00:00:00Z",
                    "summary.csv", "sessions.csv?page_size=50000", "sessions.csv?page_size=50000&page_token=a-1",
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
            what: "a room's figures are provisional, recovering after a restart, and settled once it is over",
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
                    const values = [...panel.element.querySelectorAll('dd')].slice(0, 2);
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
                    ["settled", "badge good", "30", "12.3"], ["recovering", "badge warn", "30", "12.3"]]
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
