/** Draws the picture of the rooms of `src` from the arrows of the layer test. */
type Rooms = Readonly<Record<string, { readonly mayImport: readonly string[] }>>;

/** Rooms that may import nearly all others. Their arrows would hide the other arrows. */
const COMPOSE = ['cli', 'entries'];

/** Returns the diagram. An arrow is left out if other arrows lead from its room to its target. */
export function roomsDiagram(rooms: Rooms): string {
  const drawn = Object.keys(rooms).filter((room) => !COMPOSE.includes(room));
  const arrows = drawn.flatMap((room) =>
    (rooms[room]?.mayImport ?? [])
      .filter((to) => drawn.includes(to) && !throughAnother(rooms, room, to))
      .map((to) => `  ${room} --> ${to}`),
  );
  const free = drawn.filter((room) => !arrows.some((arrow) => arrow.trim().split(' --> ').includes(room)));
  return [
    '<!-- tested by e2e/docs/pictures.test.ts -->',
    '```mermaid',
    'flowchart TB',
    ...arrows,
    ...free.map((room) => `  ${room}`),
    '```',
  ].join('\n');
}

const throughAnother = (rooms: Rooms, from: string, to: string): boolean =>
  (rooms[from]?.mayImport ?? []).some((next) => next !== to && reaches(rooms, next, to));

const reaches = (rooms: Rooms, from: string, to: string): boolean =>
  from === to || (rooms[from]?.mayImport ?? []).some((next) => reaches(rooms, next, to));
