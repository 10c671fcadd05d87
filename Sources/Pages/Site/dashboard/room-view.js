// The room view: snapshot, audience, hosts, outputs and layout.

import { h, icon, setText, show } from '../shared/element.js';
import { duration } from '../shared/format.js';
import { t } from '../texts/dashboard-texts.js';
import { loadOf } from './gateway-texts.js';
import { roomParts } from './room-parts.js';

/** A view of a room by its name. */
export function roomView(name, { mayCommand, onHealth }) {
  const air = h('span', { class: 'badge' });
  const since = h('span', { class: 'soft' });
  const load = h('span', { class: 'badge warn', hidden: true });
  const gone = h('p', { class: 'notice', hidden: true });
  const advice = h('p', { class: 'notice', role: 'status', hidden: true });
  const watchPath = `/watch/${encodeURIComponent(name)}`;
  let beganAt = null;
  const notice = (text) => {
    show(gone, true);
    setText(gone, text);
  };
  const parts = roomParts(name, {
    mayCommand, onHealth,
    onMissing: () => notice(t('room.missing')),
    onState: (state) => {
      const { room, hls } = state;
      if (room) {
        const isLive = hls?.state === 'HLS_PLAYABLE' && !room.backstage;
        air.className = `badge ${isLive ? 'live' : ''}`;
        setText(air, t(state.isEnded ? 'common.ended' : isLive ? 'common.onAir'
          : room.backstage ? 'common.backstage' : 'common.offAir'));
        beganAt = isLive && hls.started_at ? Date.parse(hls.started_at) : null;
        const level = room.degradation?.level ?? 0;
        show(load, level > 0);
        setText(load, t('room.load', { level }));
        load.title = room.degradation?.reason ?? '';
      }
      if (state.isEnded) notice(t('room.ended'));
    },
    onDiagnosis: ({ program }) => {
      show(advice, program.advice !== '');
      setText(advice, loadOf(program));
    },
  });
  const element = h('div', { class: 'room-page' },
    h('div', { class: 'room-head' },
      h('a', { class: 'button plain', href: '#/', 'aria-label': t('page.allShows') }, icon('back')),
      h('h1', {}, name), air, load, since, h('span', { class: 'spacer' }),
      h('a', { class: 'button', href: watchPath, target: '_blank', rel: 'noopener' }, icon('open'), t('page.watchPage'))),
    gone, advice,
    h('div', { class: 'columns' },
      h('div', { class: 'column wide' },
        h('section', { class: 'card bare', 'aria-label': t('show.program') }, parts.picture.element), parts.history.element,
        parts.layout.element, parts.overlays.element),
      h('div', { class: 'column' }, parts.figures.element, parts.talkback?.element, parts.hosts.element,
        parts.members.element, parts.outputs.element, parts.downloads)));
  const clock = setInterval(() => {
    setText(since, beganAt === null ? '' : t('common.since', { time: duration((Date.now() - beganAt) / 1000) }));
  }, 1000);
  return {
    element,
    restyle: parts.restyle,
    close() {
      clearInterval(clock);
      parts.close();
    },
  };
}
