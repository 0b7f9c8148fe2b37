/** Makes the data of a small team's morning: several agents at several hosts, with data for every place of the console. */
import { nextFor, Tasks } from '../../src/tasks/index.ts';
import type { Tool } from '../../src/handles/tool.ts';
import type { Stage } from './stage.ts';

/** Returns a tool whose calls run until the test calls `end`. */
export function heldTool(
  name: string,
  description: string,
): { readonly tool: Tool; end(content: string, isError?: boolean): void; readonly called: Promise<void> } {
  let ended: (outcome: { content: string; isError?: boolean }) => void = () => {};
  let begun: () => void = () => {};
  const called = new Promise<void>((resolve) => (begun = resolve));
  return {
    called,
    end: (content, isError = false) => ended({ content, isError }),
    tool: {
      name,
      description,
      inputSchema: { type: 'object' },
      execute: (_args, { signal }) =>
        new Promise((resolve) => {
          ended = resolve;
          begun();
          signal.addEventListener('abort', () => resolve({ content: 'ended: interrupted', isError: true }));
        }),
    },
  };
}

export const read: Tool = {
  name: 'read',
  description: 'Reads a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  execute: () => Promise.resolve({ content: 'export function total(cart) {\n  return Math.round(sum(cart) * 100) / 100;\n}' }),
};

const LONG = `The nightly export failed for the third time.
It wrote 1,204 of 9,310 orders and stopped at order 77120, whose currency is empty.
The file is /var/exports/orders-2026-11-22.csv.
Nobody has been told yet.`;

export async function morning(stage: Stage): Promise<void> {
  const { ear } = stage;
  const held = heldTool('run', 'Runs a command.');
  const { agent } = await stage.agent(
    'shop/coder#main',
    [
      { text: 'I will look at the cart first.', calls: [{ id: 'c1', name: 'read', args: { path: 'src/cart.ts' } }] },
      {
        reasoning: { text: 'The rounding happens before the discount.' },
        text: 'Three tests fail because the sum is rounded before the discount. I fix that and run them again.',
        calls: [{ id: 'c2', name: 'run', args: { command: 'npm test' } }],
      },
      { text: 'All tests pass now.' },
    ],
    {
      tools: [
        {
          ...read,
          execute: async (args, call) => {
            for (const [tool, type, text] of [
              ['npm_test', 'exit 1', '3 failed: cart.test.ts, total.test.ts, tax.test.ts'],
              ['vault_search', 'timeout', 'no answer within 5 s'],
            ] as const)
              await ear.bus.emit({
                type: 'tool.call.failure',
                source: 'agent',
                subject: 'shop/coder#main',
                severity: 'error',
                data: { tool_name: tool, error_type: type, error_message: text },
              });
            await ear.queue('shop/coder#main', {
              kind: 'ci.failed',
              level: 'error',
              message: LONG,
              data: { run: 4711, url: 'https://ci.example/4711' },
            });
            return read.execute(args, call);
          },
        },
        held.tool,
      ],
    },
  );
  void agent.send('Fix the rounding of the checkout total.');
  await held.called;
  for (let i = 0; i < 4; i++)
    await ear.bus.emit({
      type: 'file.changed',
      source: 'files',
      subject: 'shop/coder#main',
      severity: 'info',
      data: { path: 'src/cart.ts' },
    });
  await ear.queue('shop/coder#main', {
    kind: 'deploy.blocked',
    level: 'warning',
    message: 'Staging is locked by Mira until 11:00.',
  });
  await ear.queue('shop/coder#main', {
    kind: 'user.message',
    message: 'Mind the Swiss rounding, too.',
    origin: { person: 'mira' },
    deliver: 'turn_end',
  });
  const { id } = await ear.queue('shop/coder#main', {
    kind: 'mcp.disconnected',
    level: 'error',
    message: 'The server vault has disconnected.',
    key: 'mcp:vault',
  });
  await ear.withdraw('shop/coder', { id }, { by: 'mcp', reason: 'the server is back' });

  const gateway = ear.conversation('shop/claude-code#a41f', {
    host: 'claude-code',
    hostVersion: '2.1',
    carrier: 'gateway:fs',
    pulls: true,
    points: ['tool_result'],
  } as never);
  await gateway.seen();
  const tasks = new Tasks(ear);
  const mira = { kind: 'person', name: 'Mira' } as const;
  await tasks.create(
    'shop',
    { title: 'Round prices in one place', description: LONG, priority: 'high', assignee: 'claude-code' },
    mira,
  );
  await tasks.create('shop', { title: 'Say what a coupon is worth', assignee: 'coder' }, mira);
  await tasks.create('shop', { title: 'Export orders weekly', status: 'backlog' }, mira);
  await tasks.create('shop', { title: 'Old checkout off', priority: 'urgent' }, mira);
  await nextFor(tasks, gateway);
  await tasks.move('shop', 't1', 'blocked', { by: mira, reason: 'legal has to agree' });
  await tasks.move('shop', 't4', 'cancelled', { by: mira });
  await ear.queue('shop/claude-code#a41f', { kind: 'ci.failed', level: 'error', message: 'main is red: 2 jobs failed' });
  const offer = await gateway.offer({ at: 'tool_result', on: 'read_file' });
  await offer?.confirm();
  await ear.queue('shop/claude-code', { kind: 'review.asked', message: 'Ana asks for a review of #318.' });
  await ear.queue('shop/claude-code', {
    kind: 'disk.full',
    level: 'critical',
    message: 'The disk of the build machine is full.',
  });

  const codex = ear.conversation('shop/codex#main', {
    host: 'codex',
    hostVersion: '0.169.0',
    carrier: 'hook',
    points: ['turn_start'],
  } as never);
  await codex.seen();
  const writer = ear.conversation('docs/writer#main', {
    host: 'earpiece',
    carrier: 'agent',
    pulls: true,
    points: ['idle'],
  } as never);
  await writer.seen();
  await ear.queue('docs/writer#main', {
    kind: 'user.pause',
    level: 'critical',
    action: 'pause',
    message: 'Pause: finish this step and wait.',
    origin: { person: 'Mira' },
  });
  await ear.queue('docs/reviewer', { kind: 'page.changed', message: 'docs/guarantees.md was rewritten.' });
}
