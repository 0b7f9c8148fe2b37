/**
 * Checks the rules for a page's code blocks. A block of code is one of three kinds. The first kind is a copy of a tested file
 * (`<!-- from path -->` above it, or `path#region`). The second kind is read from the page by a test (`<!-- tested by path
 * -->`). The third kind is a list of existing commands.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';

export type Block = { readonly line: number; readonly language: string; readonly text: string; readonly note: string };

/** The files, scripts and commands that exist. */
export type Known = { readonly root: string; readonly scripts: ReadonlySet<string>; readonly program: Command };

/** Returns one line for each fault of the blocks of `page`. */
export function wrongSnippets(name: string, page: string, known: Known): string[] {
  return blocksOf(page).flatMap((block) => wrong(name, block, known).map((why) => `${name}:${block.line} ${why}`));
}

function blocksOf(page: string): Block[] {
  const lines = page.split('\n');
  const blocks: Block[] = [];
  for (let i = 0; i < lines.length; i++) {
    const [, indent = '', language = ''] = /^(\s*)```(\S*)/u.exec(lines[i] ?? '') ?? [];
    if (!/^\s*```/u.test(lines[i] ?? '')) continue;
    const end = lines.indexOf(`${indent}\`\`\``, i + 1);
    const above = lines.slice(0, i).findLast((line) => line.trim() !== '') ?? '';
    const text = lines.slice(i + 1, end).map((line) => line.slice(indent.length));
    blocks.push({ line: i + 1, language, text: text.join('\n'), note: /^\s*<!-- (.*) -->$/u.exec(above)?.[1] ?? '' });
    i = end < 0 ? lines.length : end;
  }
  return blocks;
}

function wrong(name: string, { language, text, note }: Block, known: Known): string[] {
  const [, from, region] = /^from ([^#]+)(?:#(.+))?$/u.exec(note) ?? [];
  if (from !== undefined) {
    const source = sourceOf(join(known.root, from), region);
    if (source === undefined) return [`says it is from ${from}${region ? `#${region}` : ''}, which is not there`];
    return source === text.trimEnd() ? [] : [`is not what ${note.slice(5)} says now`];
  }
  const test = /^tested by (.+)$/u.exec(note)?.[1];
  if (test !== undefined) {
    const reads =
      existsSync(join(known.root, test)) && readFileSync(join(known.root, test), 'utf8').includes(name.split('/').at(-1) ?? name);
    return reads ? [] : [`says it is tested by ${test}, which does not read this page`];
  }
  if (language !== '' && language !== 'sh')
    return [`is ${language} from nowhere; copy it from a tested file and say <!-- from path --> above it`];
  return text.split('\n').flatMap((line) => wrongCommands(line, known));
}

/** Returns the file, or its part between `// #region name` and `// #endregion`. */
function sourceOf(file: string, region: string | undefined): string | undefined {
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  if (region === undefined) return text.trimEnd();
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.trim() === `// #region ${region}` || line.trim() === `# #region ${region}`);
  const end = lines.findIndex((line, i) => i > start && /^(?:\/\/|#) #endregion/u.test(line.trim()));
  return start < 0 || end < 0
    ? undefined
    : lines
        .slice(start + 1, end)
        .join('\n')
        .trimEnd();
}

function wrongCommands(line: string, known: Known): string[] {
  const command = line
    .replace(/^\$ /u, '')
    .replace(/(?:^|\s)#.*$/u, '')
    .trim();
  return command
    .split(/\s*(?:&&|\|\||\|)\s*/u)
    .filter((part) => part !== '')
    .flatMap((part) => {
      const words = part.match(/"[^"]*"|'[^']*'|\S+/gu) ?? [];
      const [program, ...rest] = words;
      if (program === 'earpiece') return wrongEarpiece(rest, known.program);
      if (program === 'npx' && rest[0] === 'earpiece') return wrongEarpiece(rest.slice(1), known.program);
      if (program === 'npm' && rest[0] === 'run')
        return known.scripts.has(rest[1] ?? '') ? [] : [`there is no npm run ${rest[1]}`];
      if (program === 'npm') return NPM.has(rest[0] ?? '') ? [] : [`npm ${rest[0]} is no command that a test knows`];
      // The tests of the hosts run the commands of `claude plugin` with the real Claude Code.
      if (program === 'claude' && rest[0] === 'plugin') return [];
      return PLAIN.has(program ?? '') ? [] : [`${JSON.stringify(part)} is no command that a test knows`];
    });
}

const NPM = new Set(['init', 'pkg', 'ci', 'cit', 'start', 'test', 'install', 'i', 'link']);
const PLAIN = new Set(['npx', 'git', 'cd', 'node', 'alias', 'echo', 'export']);

/**
 * Returns a line about the first word or option that the command line does not know. Words after `--` belong to another program.
 */
function wrongEarpiece(words: readonly string[], program: Command): string[] {
  let command = program;
  const options = new Set<string>();
  const learn = (): void => {
    for (const option of command.options) for (const flag of [option.long, option.short]) if (flag) options.add(flag);
  };
  learn();
  for (const word of words) {
    if (word === '--') return [];
    if (word.startsWith('-') && word !== '-') {
      const flag = word.split('=')[0] as string;
      if (!options.has(flag) && flag !== '--help') return [`${command.name()} has no option ${flag}`];
      continue;
    }
    const next = command.commands.find((known) => known.name() === word || known.aliases().includes(word));
    if (next) {
      command = next;
      learn();
    } else if (command === program && command.commands.length > 0) return [`there is no command earpiece ${word}`];
  }
  return [];
}
