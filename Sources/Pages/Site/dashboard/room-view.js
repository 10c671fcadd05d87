// The room view: snapshot, audience, hosts, outputs and layout.

import { h, icon, setText, show } from '../shared/element.js';
import { duration } from '../shared/format.js';
import { APIError, ask, roomPath } from './api.js';
import { downloads } from './downloads.js';
import { figuresPanel } from './figures-panel.js';
import { historyPanel } from './history-panel.js';
import { hostsPanel } from './hosts-panel.js';
import { layoutPanel } from './layout-panel.js';
import { livePicture } from './live-picture.js';
import { outputsPanel } from './outputs-panel.js';
import { poll } from './poll.js';
import { RoomStream } from './room-stream.js';
import { withParticipants } from './room-state.js';

/** A view of a room by its name. */
export function roomView(name, { mayCommand, onHealth }) {
  const air = h('span', { class: 'badge' });
  const since = h('span', { class: 'soft' });
  const load = h('span', { class: 'badge warn', hidden: true });
  const gone = h('p', { class: 'notice', hidden: true });
  const watchPath = `/watch/${encodeURIComponent(name)}`;
  const picture = livePicture(name, { width: 1280, seconds: 2 });
  const figures = figuresPanel(name);
  const history = historyPanel(name);
  const hosts = hostsPanel(name, { mayCommand });
  const outputs = outputsPanel(name, { mayCommand });
  const layout = layoutPanel(name, { mayCommand });
  const element = h('div', { class: 'room-page' },
    h('div', { class: 'room-head' },
      h('a', { class: 'button plain', href: '#/', 'aria-label': 'All rooms' }, icon('back')),
      h('h1', {}, name), air, load, since, h('span', { class: 'spacer' }),
      h('a', { class: 'button', href: watchPath, target: '_blank', rel: 'noopener' }, icon('open'), 'Watch page')),
    gone,
    h('div', { class: 'columns' },
      h('div', { class: 'column wide' },
        h('section', { class: 'card bare', 'aria-label': 'On air' }, picture.element), history.element, layout.element),
      h('div', { class: 'column' }, figures.element, hosts.element, outputs.element, downloads(name))));

  let beganAt = null;
  const showState = (state) => {
    const { room, hls } = state;
    if (room) {
      const isLive = hls?.state === 'HLS_PLAYABLE';
      air.className = `badge ${isLive ? 'live' : ''}`;
      setText(air, state.isEnded ? 'Ended' : isLive ? 'On air' : room.backstage ? 'Backstage' : 'Off air');
      beganAt = isLive && hls.started_at ? Date.parse(hls.started_at) : null;
      figures.setBegin(beganAt);
      const level = room.degradation?.level ?? 0;
      show(load, level > 0);
      setText(load, `load level ${level}`);
      load.title = room.degradation?.reason ?? '';
    }
    hosts.update(state.participants);
    outputs.update(state);
    layout.update(state.layout);
    if (state.isEnded) notice('This room has ended.');
  };
  const showFigures = (viewership) => {
    figures.update(viewership);
    history.update(viewership);
  };
  const notice = (text) => {
    show(gone, true);
    setText(gone, text);
  };

  const stream = new RoomStream(name, {
    onState(state) {
      showState(state);
      if (state.viewership) showFigures(state.viewership);
    },
    onHealth,
  });
  const stops = [
    // No event reports levels and sync, so they are polled.
    poll(1, async () => {
      const { participants } = await ask('GET', roomPath(name, '/participants?mode=SEND_AND_RECV&page_size=50'));
      if (stream.state.room) stream.update((state) => withParticipants(state, participants));
    }),
    poll(2, async () => {
      try {
        showFigures(await ask('GET', roomPath(name, '/viewership')));
      } catch (error) {
        if (error instanceof APIError && error.status === 404) notice('There is no such room.');
        throw error;
      }
    }),
    // Bytes sent, which no event tells either.
    poll(5, async () => {
      const { livestream } = await ask('GET', roomPath(name, '/egress'));
      if (stream.state.room) stream.update((state) => ({ ...state, livestream }));
    }),
  ];
  const clock = setInterval(() => {
    setText(since, beganAt === null ? '' : `for ${duration((Date.now() - beganAt) / 1000)}`);
  }, 1000);

  return {
    element,
    restyle: history.restyle,
    close() {
      stream.close();
      clearInterval(clock);
      for (const stop of stops) stop();
      for (const part of [picture, figures, history, layout]) part.close();
    },
  };
}
