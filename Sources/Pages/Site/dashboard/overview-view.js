// All shows, and all rooms on air at a glance.

import { h, keyed, setText, show } from '../shared/element.js';
import { clock, count, short } from '../shared/format.js';
import { t, wordOf } from '../texts/dashboard-texts.js';
import { ask } from './api.js';
import { downloads } from './downloads.js';
import { showTrust } from './figures-panel.js';
import { historyPanel } from './history-panel.js';
import { livePicture } from './live-picture.js';
import { poll } from './poll.js';
import { protocolBar } from './protocol-bar.js';
import { showsPanel } from './shows-panel.js';
import { TotalsStream } from './totals-stream.js';

const tones = { connected: 'good', connecting: 'warn', interrupted: 'warn', failed: 'bad', stopped: '' };

/** The view of all open rooms; `onHealth` is called with whether the gateway responds. */
export function overviewView({ mayCommand, onHealth }) {
  const total = h('strong', { class: 'now' }, '–');
  const badge = h('span', { class: 'badge' });
  const peak = h('span', { class: 'soft' });
  const bar = protocolBar();
  const grid = h('ul', { class: 'rooms' });
  const empty = h('p', { class: 'empty soft', hidden: true },
    t('overview.empty'));
  const summary = h('section', { class: 'card total', 'aria-labelledby': 'total-title' },
    h('div', {}, h('div', { class: 'card-head' }, h('h2', { id: 'total-title' }, t('overview.watchingNow')), badge), total, peak),
    bar.element);
  const history = historyPanel(null);
  const shows = showsPanel({ mayCommand });
  const element = h('div', { class: 'overview' }, h('h1', { class: 'unseen' }, t('overview.title')), shows.element, summary,
    grid, empty, history.element, downloads(null));

  let rooms = [];
  let figures = new Map();
  const draw = () => {
    const sorted = rooms.toSorted((a, b) => isLive(b) - isLive(a) || a.unique_name.localeCompare(b.unique_name));
    show(empty, rooms.length === 0);
    keyed(grid, sorted, ({ sid }) => sid, roomCard,
      (card, room) => card.update(room, figures.get(room.unique_name)));
  };
  const take = (answer) => {
    figures = new Map(answer.rooms.map((room) => [room.room, room]));
    setText(total, count(answer.total.concurrent_viewers));
    setText(peak, [t('overview.rooms', { count: answer.rooms.length }), peakOf(answer.total)].filter(Boolean).join(' · '));
    bar.update(answer.total.by.protocol);
    history.update(answer.total);
    showTrust(badge, answer.total, null);
    draw();
  };
  const stream = new TotalsStream(take);
  const stops = [
    poll(2, async () => {
      if (!stream.isFresh) take(await ask('GET', '/v1/viewership'));
    }, onHealth),
    poll(4, async () => {
      const all = [];
      for (let query = '?status=in-progress&page_size=50'; query;) {
        const answer = await ask('GET', `/v1/rooms${query}`);
        all.push(...answer.rooms);
        const next = answer.meta?.next_page_token;
        query = next && all.length < 500 ? `?status=in-progress&page_size=50&page_token=${encodeURIComponent(next)}` : '';
      }
      rooms = all;
      draw();
    }),
  ];
  return {
    element,
    restyle: history.restyle,
    close() {
      stream.close();
      for (const stop of stops) stop();
      history.close();
      shows.close();
      for (const card of grid.children) card.picture.close();
    },
  };
}

/** The most over all rooms at one time, and when that was. */
function peakOf({ peak_concurrent_viewers: most, peak_at: at }) {
  return at ? t('overview.peakAt', { number: count(most), time: clock(Date.parse(at)) }) : '';
}

const isLive = (room) => room.egress.hls.state === 'HLS_PLAYABLE';

function roomCard({ unique_name: name }) {
  const picture = livePicture(name, { width: 640, seconds: 4 });
  const viewers = h('b', {}, '–');
  const air = h('span', { class: 'badge' });
  const bar = protocolBar({ small: true });
  const hosts = h('span', { class: 'soft' });
  const outputs = h('span', { class: 'lamps' });
  const story = h('span', { class: 'soft note' });
  const load = h('span', { class: 'badge warn', hidden: true });
  const card = h('li', {},
    h('a', { class: 'card room', href: `#/room/${encodeURIComponent(name)}` }, picture.element,
      h('div', { class: 'room-text' },
        h('div', { class: 'host-head' }, h('span', { class: 'name' }, name), h('span', { class: 'spacer' }), load, air),
        h('div', { class: 'host-head' }, viewers, h('span', { class: 'soft' }, t('overview.watching')), h('span', { class: 'spacer' }),
          hosts, outputs),
        bar.element, story)));
  card.picture = picture;
  card.update = (room, figures) => {
    const isOnAir = isLive(room) && !room.backstage;
    air.className = `badge ${isOnAir ? 'live' : room.backstage ? 'warn' : ''}`;
    setText(air, t(isOnAir ? 'common.onAir' : room.backstage ? 'common.backstage' : 'common.offAir'));
    setText(hosts, t('overview.hosts', { count: room.counts.hosts }));
    show(load, (room.degradation?.level ?? 0) > 0);
    setText(load, t('overview.load', { level: room.degradation?.level ?? 0 }));
    if (figures) {
      setText(viewers, short(figures.concurrent_viewers));
      bar.update(figures.by.protocol);
      setText(story, [
        t('overview.peak', { number: short(figures.peak_concurrent_viewers) }),
        t('overview.joins', { count: figures.joins, number: short(figures.joins) }),
        figures.recovering ? t('figures.trust.recovering') : '',
      ].filter(Boolean).join(' · '));
    }
    keyed(outputs, room.egress.livestream.outputs, (output) => output.name,
      () => h('span', { class: 'lamp', role: 'img' }),
      (lamp, output) => {
        lamp.className = `lamp ${tones[output.state] ?? ''}`;
        lamp.title = `${output.name}: ${wordOf('outputs.states', output.state)}`;
        lamp.setAttribute('aria-label', lamp.title);
      });
  };
  return card;
}
