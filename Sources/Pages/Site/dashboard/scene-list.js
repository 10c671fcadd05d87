// The scenes of a show in their order: which one is on air, and which one comes next. Pure functions.

/** The settings of a layout in the API's format that a scene has: without tiles, and without slates, which are the show's. */
export function settingsOf({ width, height, tiles, slates, ...settings }) {
  // Left out where hosts do not take turns, and then to be said.
  return { rotate_every: 0, ...settings };
}

/** Whether two layouts have the same settings. */
export const isSameLayout = (one, other) => canonical(settingsOf(one)) === canonical(settingsOf(other));

/** A value as text that is the same for equal ones: keys in order, nothing that is null. */
function canonical(value) {
  return JSON.stringify(value, (key, part) => {
    if (part === null || typeof part !== 'object' || Array.isArray(part)) return part;
    return Object.fromEntries(Object.keys(part).sort().filter((name) => part[name] !== null && part[name] !== undefined)
      .map((name) => [name, part[name]]));
  });
}

/**
 * Where a show is in its scenes.
 *
 * @param layout What is on air; null while nothing is known.
 * @param taken The name of the scene that was on air last; null before any was.
 * @returns `place` of the scene, -1 for none, and `isChanged` where something was changed since it was taken.
 */
export function sceneOnAir(scenes, layout, taken) {
  const former = scenes.findIndex(({ name }) => name === taken);
  if (!layout) return { place: former, isChanged: false };
  if (former >= 0 && isSameLayout(scenes[former].layout, layout)) return { place: former, isChanged: false };
  const same = scenes.findIndex((scene) => isSameLayout(scene.layout, layout));
  return same >= 0 ? { place: same, isChanged: false } : { place: former, isChanged: former >= 0 };
}

/** The list with one of its scenes at another place. */
export function moved(scenes, name, step) {
  const place = scenes.findIndex((scene) => scene.name === name);
  const target = place + step;
  if (place < 0 || target < 0 || target >= scenes.length) return scenes;
  return scenes.toSpliced(place, 1).toSpliced(target, 0, scenes[place]);
}

/** The list with a scene; one of its name is replaced where it stands. */
export function withScene(scenes, scene) {
  const place = scenes.findIndex(({ name }) => name === scene.name);
  return place < 0 ? [...scenes, scene] : scenes.with(place, scene);
}
