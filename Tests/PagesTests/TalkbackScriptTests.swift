extension ScriptTests {
    /// The checks of the talkback's scripts.
    static let talkback: [Claim] = [
        Claim(
            what: "what a microphone delivers becomes blocks of 48 kHz, whatever its rate",
            script: """
                const { BlockMaker } = await import('/site/dashboard/talkback-blocks.js');
                return [48000, 44100, 96000, 16000].map((rate) => {
                    const maker = new BlockMaker(rate);
                    const blocks = [];
                    for (let at = 0; at < rate; at += 128) {
                        blocks.push(...maker.push(Float32Array.from({ length: Math.min(128, rate - at) },
                            (_, index) => 0.5 * Math.sin(2 * Math.PI * 1000 * (at + index) / rate))));
                    }
                    const samples = blocks.slice(1).flatMap((block) => [...block]);
                    const part = (wave) => samples.reduce((sum, value, index) =>
                        sum + value * wave(2 * Math.PI * index / 48), 0) / samples.length * 2;
                    return [blocks.length, maker.rest()?.length ?? 0, maker.rest(),
                        Math.round(Math.hypot(part(Math.sin), part(Math.cos)) / 327.67)];
                });
                """,
            truth: "[[10, 0, null, 50], [10, 0, null, 50], [10, 0, null, 50], [10, 1, null, 49]]"
        ),
        Claim(
            what: "somebody speaks while it is held, or with the latch from one press to the next",
            script: """
                const { TalkSwitch } = await import('/site/dashboard/talkback-sender.js');
                const said = [];
                const one = new TalkSwitch((isOn) => said.push(isOn));
                one.press(); one.press(); one.release(); one.release();
                one.latch(true);
                one.press(); one.release(); one.press();
                one.press(); one.latch(false);
                return said;
                """,
            truth: "[true, false, true, false, true, false]"
        ),
        Claim(
            what:
                "blocks that come while one is under way go together, the oldest are given up, and the end comes last",
            script: """
                const { Talk } = await import('/site/dashboard/talkback-sender.js');
                const posted = [], states = [];
                let answer = null;
                const talk = new Talk({
                    post: (samples) => { posted.push([...samples]); return new Promise((resolve) => { answer = resolve; }); },
                    end: async () => { posted.push('end'); },
                    onState: (state) => states.push(state), onFailure: () => undefined,
                });
                const after = async (state) => { answer(state); await new Promise((resolve) => setTimeout(resolve)); };
                for (let number = 1; number < 9; number += 1) talk.push(Int16Array.of(number, -number));
                await after('a');
                talk.push(Int16Array.of(9));
                talk.finish();
                talk.push(Int16Array.of(10));
                await after('b');
                await after('c');
                talk.finish();
                return [posted, states];
                """,
            truth: #"[[[1, -1], [4, -4, 5, -5, 6, -6, 7, -7, 8, -8], [9], "end"], ["a", "b", "c"]]"#
        ),
        Claim(
            what: "a refusal ends a talk at once, and a lost connection at the third time",
            script: """
                const { Talk } = await import('/site/dashboard/talkback-sender.js');
                const run = async (...answers) => {
                    let count = 0;
                    const said = [];
                    const talk = new Talk({
                        post: async () => {
                            count += 1;
                            const error = answers.shift();
                            if (error) throw error;
                            return 'well';
                        },
                        end: async () => said.push('end'), onState: (state) => said.push(state),
                        onFailure: (error) => said.push(error.status ?? 'lost'),
                    });
                    for (let number = 0; number < 6; number += 1) {
                        talk.push(Int16Array.of(number));
                        await new Promise((resolve) => setTimeout(resolve));
                    }
                    return [count, ...said];
                };
                const lost = () => new TypeError('');
                return [await run(null, { status: 409 }), await run(lost(), lost(), null, lost(), lost(), lost())];
                """,
            truth: #"[[2, "well", 409], [6, "well", "lost"]]"#
        ),
        Claim(
            what: "the panel names who has no return feed and who speaks, and says why there is no microphone",
            script: """
                const { talkbackPanel } = await import('/site/dashboard/talkback-panel.js');
                const { fetch } = globalThis;
                const { mediaDevices } = navigator;
                let speaker = 'bob';
                globalThis.fetch = async () => new Response(JSON.stringify({ speaker, hosts: [], unreachable: [] }),
                    { headers: { 'Content-Type': 'application/json' } });
                const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
                const panel = talkbackPanel('show');
                document.body.append(panel.element);
                const button = panel.element.querySelector('.talk');
                const status = panel.element.querySelector('[role="status"]');
                const badge = panel.element.querySelector('.card-head .badge');
                const said = [button.disabled];
                const host = (identity, isBack) =>
                    ({ sid: identity, identity, display_name: '', mode: 'SEND_AND_RECV', sound: { return_feed: isBack } });
                panel.update([host('ann', true), host('cat', false), { sid: 'd', identity: 'd', mode: 'RECV_ONLY' }]);
                await pause();
                said.push(button.disabled, badge.textContent,
                    [...panel.element.querySelectorAll('.talk-hosts label')].map((one) => one.innerText.trim()));
                for (const name of ['NotAllowedError', 'NotFoundError', 'OtherError']) {
                    Object.defineProperty(navigator, 'mediaDevices', { configurable: true,
                        value: { getUserMedia: async () => { throw new DOMException('', name); } } });
                    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 't', bubbles: true }));
                    await pause();
                    said.push([status.textContent.split('.')[0], button.getAttribute('aria-pressed')]);
                    document.body.dispatchEvent(new KeyboardEvent('keyup', { key: 't', bubbles: true }));
                }
                const boxes = panel.element.querySelectorAll('.talk-hosts input');
                for (const box of boxes) box.click();
                said.push(button.disabled);
                panel.close();
                panel.element.remove();
                Object.defineProperty(navigator, 'mediaDevices', { configurable: true, value: mediaDevices });
                Object.assign(globalThis, { fetch });
                return said;
                """,
            truth: #"""
                [true, false, "bob speaks", ["ann", "cat\nno return feed"],
                    ["The browser does not let this page use the microphone", "false"], ["There is no microphone", "false"],
                    ["The microphone could not be opened", "false"], true]
                """#
        ),
    ]
}
