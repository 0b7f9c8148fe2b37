/** Draws the picture at the top of the README from a real run: a terminal next to the text that the model reads. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Terminal } from './terminal.ts';

type Pane = { readonly title: string; readonly text: string };
type Scene = { readonly left: Pane; readonly right: Pane };

const [LEFT, RIGHT] = [47, 62] as const;
const [CHAR, LINE, PAD, GAP, HEAD] = [7.25, 17, 14, 16, 30] as const;

/** Runs the story of the picture: a build fails, and a person pauses the agent. */
export async function story(): Promise<Scene[]> {
  await using terminal = await Terminal.open();
  writeFileSync(join(terminal.folder, 'test.js'), 'console.log("cart.test.js: total() is off by 1 cent"); process.exit(1);\n');
  const shell = async (command: string): Promise<string> => terminal.session(`$ ${command}`);
  const build = await shell('earpiece run-and-tell -- node test.js');
  const result = await terminal.reads(true);
  const pause = await shell('earpiece send --to claude-code --action pause --as anna "wait for my review"');
  const refusal = await terminal.reads(false);
  return [
    {
      left: { title: 'your terminal', text: build },
      right: { title: 'what the model reads with its next tool result', text: `src/cart.ts: 40 lines written\n\n${result}` },
    },
    {
      left: { title: 'your terminal', text: pause },
      right: { title: 'what the model reads instead of its next tool call', text: refusal },
    },
  ];
}

export function drawn(scenes: readonly Scene[]): string {
  let y = PAD;
  const parts = scenes.map(({ left, right }) => {
    const panes = [wrapped(left.text, LEFT), wrapped(right.text, RIGHT)];
    const height = HEAD + Math.max(...panes.map((lines) => lines.length)) * LINE + PAD;
    const widths = [LEFT, RIGHT].map((columns) => columns * CHAR + 2 * PAD);
    const drawnPanes = [left, right].map(({ title }, i) =>
      pane(title, panes[i] ?? [], PAD + (i === 0 ? 0 : (widths[0] ?? 0) + GAP), y, widths[i] ?? 0, height),
    );
    y += height + GAP;
    return drawnPanes.join('\n');
  });
  const width = (LEFT + RIGHT) * CHAR + 4 * PAD + GAP + 2 * PAD;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${Math.ceil(width)} ${y - GAP + PAD}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="12">
<title>A failed command reaches the model with its next tool result, and a pause stops the next tool call</title>
${parts.join('\n')}
</svg>
`;
}

function pane(title: string, lines: readonly string[], x: number, y: number, width: number, height: number): string {
  const rows = lines.map((line, i) => {
    const ours = /^\[\/?ep /u.test(line) ? '#8bd5ca' : line.startsWith('$ ') ? '#ffffff' : '#cad3f5';
    return `<text x="${x + PAD}" y="${y + HEAD + 12 + i * LINE}" fill="${ours}" xml:space="preserve">${escaped(line)}</text>`;
  });
  return [
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8" fill="#24273a" stroke="#5b6078"/>`,
    `<text x="${x + PAD}" y="${y + 20}" fill="#a5adcb" font-family="system-ui, sans-serif">${escaped(title)}</text>`,
    ...rows,
  ].join('\n');
}

/** Returns lines of at most `columns` characters, broken between words. */
function wrapped(text: string, columns: number): string[] {
  return text
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const lines: string[] = [];
      let rest = line;
      while (rest.length > columns) {
        const at = rest.lastIndexOf(' ', columns);
        lines.push(rest.slice(0, at > 2 ? at : columns));
        rest = `  ${rest.slice(at > 2 ? at + 1 : columns)}`;
      }
      return [...lines, rest];
    });
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
