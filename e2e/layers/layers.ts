/**
 * The arrows between the rooms of `src`, and how they are read from the sources. Rooms are the folders of `src`; the files
 * directly in it, and what is outside of it, are composition roots and may name whatever they compose.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

type Room = {
  readonly mayImport: readonly string[];
  /** Decides from values: no `node:`, no clock, no chance. Only the packages named here, which are pure themselves. */
  readonly pure?: { readonly packages: readonly string[] };
};

/** Who may import whom. An arrow missing here is a decision; adding one is a review. */
export const ROOMS: Readonly<Record<string, Room>> = {
  core: { mayImport: [], pure: { packages: ['@toon-format/toon'] } },
  // What users wrote, read within bounds: files of a limited size, patterns in linear time.
  input: { mayImport: ['core'] },
  stores: { mayImport: ['core', 'input'] },
  inbox: { mayImport: ['core', 'input'] },
  config: { mayImport: ['core', 'input'] },
  // Its files are read and checked like the configuration.
  bus: { mayImport: ['core', 'input', 'inbox', 'config'] },
  // Background tools: an agent's loop calls them, and their handles are in the agent's log.
  handles: { mayImport: ['core', 'inbox'] },
  // What happens outside: events for the bus.
  sources: { mayImport: ['core', 'input', 'inbox', 'bus', 'handles'] },
  // What agents are to do: records of their logs, and the interrupts of whoever takes it out of their hands.
  tasks: { mayImport: ['core', 'inbox'] },
  // What agents say to each other.
  talk: { mayImport: ['core', 'inbox'] },
  // Frames and links of MCP, over stdio and HTTP, in both generations. It knows no notification.
  mcp: { mayImport: [] },
  gateway: { mayImport: ['core', 'inbox', 'tasks', 'mcp'] },
  // The extension points of coding agents: what they tell, and what they are answered.
  hosts: { mayImport: ['core', 'input', 'inbox', 'tasks', 'talk', 'config'] },
  // It reaches its MCP servers as the gateway does, and takes and reports its tasks by the same tools.
  agent: { mayImport: ['core', 'input', 'inbox', 'tasks', 'handles', 'sources', 'mcp'] },
  // Notifications and the gate for the loops of the AI SDK.
  'ai-sdk': { mayImport: ['core', 'inbox'] },
  // The shapes that cross HTTP, and the client that speaks them.
  wire: { mayImport: ['core'] },
  // Webhooks come in by it.
  server: { mayImport: ['core', 'wire', 'inbox', 'tasks', 'bus', 'sources', 'config'] },
  cli: {
    mayImport: [
      'core',
      'input',
      'stores',
      'inbox',
      'tasks',
      'config',
      'bus',
      'sources',
      'handles',
      'agent',
      'mcp',
      'gateway',
      'hosts',
      'talk',
      'wire',
      'server',
      '.',
    ],
  },
  // The public library: names of agents, checked arguments, conversations. Settings have the ranges of the configuration.
  library: { mayImport: ['core', 'inbox', 'bus', 'tasks', 'config', '.'] },
  // What the package exports, one file a subpath.
  entries: {
    mayImport: [
      'core',
      'wire',
      'stores',
      'inbox',
      'tasks',
      'config',
      'bus',
      'handles',
      'sources',
      'agent',
      'ai-sdk',
      'gateway',
      'server',
      'library',
      '.',
    ],
  },
};

/** What only tests import, beside what it is about. Free like a test; nothing else may import it. */
export const FOR_TESTS: readonly string[] = ['core/arbitraries.ts'];

const IMPORT =
  /(?:^(?:import|export)\b[^'"`;=(]*?\bfrom\s*|^import\s*|\bimport\(\s*|\brequire\(\s*|\bgetBuiltinModule\(\s*)(['"])(?<target>[^'"\n]+)\1/gmu;

/** What has a clock, chance or a machine behind it. */
const IMPURE = [
  /\bDate\.now\b/u,
  /\bnew Date\(\s*\)/u,
  /(?<!new )\bDate\(\s*\)/u,
  /\bTemporal\.Now\b/u,
  /\bMath\.random\b/u,
  /\bcrypto\.\w/u,
  /\bperformance\.\w/u,
  /\bprocess\.\w/u,
  /\bset(?:Timeout|Interval|Immediate)\b/u,
  /\bqueueMicrotask\b/u,
  /\bfetch\(/u,
  /\bresolvedOptions\b/u,
  /\bconsole\.\w/u,
];

/** One line for each arrow that is not allowed and each impurity, `<file>:<line> …`. Tests are free. */
export function violations(src: string, rooms: Readonly<Record<string, Room>> = ROOMS): string[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !FOR_TESTS.includes(file))
    .toSorted()
    .flatMap((file) => {
      const name = roomOf(file);
      const room = rooms[name];
      if (name === '.') return [];
      if (room === undefined)
        return [`${file}: the room ${name} has no arrows yet; say in e2e/layers/layers.ts whom it may import`];
      const code = withoutComments(readFileSync(join(src, file), 'utf8'));
      const at = (index: number): string => `${file}:${code.slice(0, index).split('\n').length}`;
      return [
        ...[...code.matchAll(IMPORT)].flatMap((match) => {
          const why = forbidden(match.groups?.['target'] ?? '', file, room);
          return why === undefined ? [] : [`${at(match.index)} ${why}`];
        }),
        ...(room.pure
          ? IMPURE.flatMap((impure) => {
              const found = impure.exec(code);
              return found ? [`${at(found.index)} says ${found[0]}; ${name} has no clock, no chance and no I/O`] : [];
            })
          : []),
      ];
    });
}

/** What the console's files may import beside each other: its packages, the client, and the names of what it speaks of. */
const CONSOLE = {
  packages: ['react', 'react/jsx-runtime', 'react-dom/client', '@toon-format/toon'],
  rooms: ['wire/client'],
  typesOf: ['core'],
};

/** The same for the console, which stands outside of `src` and talks to the server through the client only. */
export function consoleViolations(source: string): string[] {
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/u.test(file) && !file.includes('.test.') && !file.endsWith('.d.ts'))
    .toSorted()
    .flatMap((file) => {
      const code = withoutComments(readFileSync(join(source, file), 'utf8'));
      return [...code.matchAll(IMPORT)].flatMap((match) => {
        const target = match.groups?.['target'] ?? '';
        const line = code.slice(0, match.index).split('\n').length;
        const why = `console/${file}:${line} imports ${target}`;
        if (!target.startsWith('.'))
          return CONSOLE.packages.includes(target) ? [] : [`${why}; only ${CONSOLE.packages.join(', ')}`];
        const path = join(dirname(file), target);
        if (!path.startsWith('..')) return [];
        const [, room = ''] = /^\.\.\/\.\.\/src\/(wire\/client|[^/]+)\//u.exec(path) ?? [];
        if (CONSOLE.rooms.includes(room)) return [];
        if (CONSOLE.typesOf.includes(room) && /^(?:import|export) type\b/u.test(match[0])) return [];
        return [`${why}; of src it may import ${CONSOLE.rooms.join(', ')}, and types of ${CONSOLE.typesOf.join(', ')}`];
      });
    });
}

/** Why this file of `room` may not import `target`. */
function forbidden(target: string, file: string, { mayImport, pure }: Room): string | undefined {
  if (target.startsWith('.')) {
    const path = join(dirname(file), target);
    if (path.startsWith('..')) return `imports ${target}, which is outside of src`;
    if (FOR_TESTS.includes(path)) return `imports ${path}, which is for tests only`;
    const to = roomOf(path);
    return to === roomOf(file) || mayImport.includes(to)
      ? undefined
      : `imports ${path}; it may import ${mayImport.join(', ') || 'no other room'}`;
  }
  if (!pure || pure.packages.includes(target)) return undefined;
  return `imports ${target}; only ${pure.packages.join(', ')}`;
}

const roomOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '.');

/** Comments become blanks, so that positions stay. Texts in quotes are left alone. */
function withoutComments(code: string): string {
  return code.replaceAll(
    /(?<text>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//gu,
    (match, text: string | undefined) => text ?? match.replaceAll(/[^\n]/gu, ' '),
  );
}
