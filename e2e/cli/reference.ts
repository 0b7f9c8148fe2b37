/** Makes `docs/cli-reference.md` from the help that each command prints. */
import { wholeProgram } from '../../src/cli/commander.ts';
import { COMMANDS, nameOf } from '../../src/cli/commands.ts';
import type { Shell } from './shell.ts';

const HEAD = `# Command reference

The tables list every command. Each block below is the command's own help. \`vitest run e2e/cli/manual.test.ts --update\` updates this page.
[The command line](cli.md) explains addresses, exit codes, \`--json\` and the environment.

Every command also takes these options, which the blocks leave out:
`;

export async function referencePage(shell: Shell): Promise<string> {
  const tree = await wholeProgram();
  const parts = [HEAD, '\n', block(globalOptions(await shell.says(['help', 'send'])))];
  for (const [title, entries] of Object.entries(COMMANDS)) {
    parts.push(`\n## ${title.replace(':', '')}\n\n| command | |\n|---|---|\n`);
    for (const entry of entries) parts.push(`| [\`${nameOf(entry)}\`](#earpiece-${nameOf(entry)}) | ${cell(entry.summary)} |\n`);
    for (const entry of entries) {
      const name = nameOf(entry);
      const subs = tree.commands.find((command) => command.name() === name)?.commands ?? [];
      const helps = subs.length > 0 ? subs.map((sub) => [name, sub.name()]) : [[name]];
      parts.push(`\n### earpiece ${name}\n`);
      for (const words of helps) parts.push('\n', block(own(await shell.says(['help', ...words]))));
    }
  }
  return parts.join('');
}

const block = (text: string): string =>
  `\n<!-- tested by e2e/cli/manual.test.ts -->\n\`\`\`\n${text.trimEnd()}\n\`\`\`\n`.slice(1);

const GLOBAL = /\nGlobal Options:\n(?: {2}[^\n]*\n)+/u;
const own = (help: string): string => help.replace(GLOBAL, '');
const globalOptions = (help: string): string => GLOBAL.exec(help)?.[0].trim() ?? '';
const cell = (text: string): string => text.replaceAll('|', '\\|');
