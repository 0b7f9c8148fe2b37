// `npm start`: the story of examples/demo, in this terminal. Ends with 0 when all of it came true.
import '../src/node-version.ts';
import { paint } from '../src/cli/terminal.ts';
import { tellStory } from '../examples/demo/demo.ts';
import { Page } from '../examples/demo/page.ts';
import { Stage } from '../examples/demo/stage.ts';

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const PACE_MS = 450;
const LONGEST_MS = 90_000;
const UNKNOWN_WIDTH = 100;

const { stdout } = process;
const width = stdout.columns ?? (Number(process.env['COLUMNS']) || UNKNOWN_WIDTH);
const page = new Page(width, (text) => silent || stdout.write(text));
let stage: Stage | undefined;
let over = false;
/** What the story still does while it is ended is of no interest. */
let silent = false;
process.once('exit', () => stage?.clear());
// A reader that goes away (`npm start | head`) is no error.
stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const code = await Promise.race([told(), stopped(), late()]);
over = true;
await stage?.end();
if (code === 0) goOn();
process.exit(code);

async function told(): Promise<number> {
  try {
    stage = new Stage();
    await tellStory({ stage, page, paceMs: stdout.isTTY ? PACE_MS : 0 });
    return 0;
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}

/** Resolves when a person or the system wants it to end. */
function stopped(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  for (const [signal, exitCode] of Object.entries(SIGNALS))
    process.on(signal, () => {
      if (over) return;
      over = true;
      page.text('', 'Stopped: its processes end, and its folder goes away.');
      silent = true;
      resolve(exitCode);
    });
  return promise;
}

async function late(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, LONGEST_MS);
  await promise;
  return failed(`it did not end within ${LONGEST_MS / 1000} s`);
}

function failed(why: string): number {
  // Whatever breaks after the end is a consequence of it.
  if (!over) process.stderr.write(`\nearpiece: the story did not come true: ${why}\n`);
  return 1;
}

function goOn(): void {
  page.text(
    '',
    { text: 'npm run earpiece -- gateway --print claude -- <your MCP server>', sign: paint('bold', 'your agent  ') },
    { text: 'README.md, docs/guarantees.md, examples/library', sign: paint('bold', 'read on     ') },
    {
      text: 'npm run earpiece -- send --to shop/coder "hello", then: inbox, log, watch, help',
      sign: paint('bold', 'play        '),
    },
  );
}
