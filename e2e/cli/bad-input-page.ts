/** Makes `docs/bad-input.md` from the table that the tests run. */
import { BAD_FRAMES, BAD_INPUT, type FrameRow, type Row } from './bad-input.ts';

export function badInputPage(): string {
  const rows = Object.values(BAD_INPUT).flat().length + BAD_FRAMES.length;
  return `# Bad input

This page lists the answer to ${rows} kinds of bad input. The page is generated from \`e2e/cli/bad-input.ts\`. \`e2e/cli/bad-input.test.ts\`
runs each row against a database with one open notification. After each row, that notification is still open, and refused input has
changed nothing. No row prints a stack trace. \`{folder}\` is the project's folder, \`{db}\` the path of the database, \`{user}\` the
current user, and \`{port}\` a port. \`⏎\` is a line break. [The command line](cli.md#exit-codes) explains the exit codes.

${Object.entries(BAD_INPUT)
  .map(([title, all]) => `## ${title}\n\n| case | input | answer | exit |\n|---|---|---|---|\n${all.map(line).join('\n')}`)
  .join('\n\n')}

## What a client sends to the gateway

Each row is sent to the stdin of a gateway in front of a real MCP server. After each row, the next tool call works: client, gateway
and server continue. The gateway checks only the lines that it must understand, and passes every other line of at most 64 MiB to the server. \`server\`
means that the client gets the server's answer unchanged. \`none\` means that the client gets no answer.

| case | line | answer |
|---|---|---|
${BAD_FRAMES.map(frameLine).join('\n')}
`;
}

function line(row: Row): string {
  const env = Object.entries(row.env ?? {}).map(([name, value]) => `${name}=${quoted(value)}`);
  const given = [
    row.given,
    ...Object.entries(row.files ?? {}).map(([name, text]) => `${name}: ${typeof text === 'string' ? code(text) : bytes(text)}`),
    row.stdin && `on stdin ${row.stdin.shown}`,
    row.client ? `the client sends ${code(row.client)}` : undefined,
    code([...env, 'earpiece', ...row.args.map(quoted)].join(' ')),
  ].filter((part) => part !== undefined);
  const answer = [row.stdout === undefined ? '' : `stdout ${code(row.stdout)}`, row.stderr === '' ? '' : code(row.stderr)];
  return `| ${row.what} | ${given.join('; ')} | ${answer.filter((part) => part !== '').join('; ')} | ${row.code} |`;
}

function frameLine({ what, frame, answers, stderr }: FrameRow): string {
  const shown = frame.shown ?? (typeof frame.bytes === 'string' ? code(frame.bytes) : bytes(frame.bytes));
  const told = answers.map((answer) => (answer === '{server}' ? 'server' : code(answer)));
  if (stderr !== undefined) told.push(`stderr ${code(stderr)}`);
  return `| ${what} | ${shown} | ${told.join('; ') || 'none'} |`;
}

const bytes = (all: Uint8Array): string => code([...all].map((byte) => byte.toString(16).padStart(2, '0')).join(' '));

const quoted = (word: string): string => {
  const short = word.length > 60 ? `${word.slice(0, 20)}… (${word.length} characters)` : word;
  if (/^[\w@%+=:,./#{}-]+$/.test(short)) return short;
  return `'${short.replaceAll("'", "'\\''")}'`;
};

/** Formats a text for a table: joins its lines, and spells out invisible characters. */
function code(text: string): string {
  const seen = text
    .trimEnd()
    .replaceAll(process.execPath, 'node')
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ⏎ ')
    .replaceAll(/\p{Cc}|\p{Cf}/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
  const tick = seen.includes('`') ? '``' : '`';
  return `${tick}${tick === '``' ? ' ' : ''}${seen}${tick === '``' ? ' ' : ''}${tick}`;
}
