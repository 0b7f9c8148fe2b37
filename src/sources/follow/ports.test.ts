import { expect, it } from 'vitest';
import { portProblem } from './ports.ts';

const REFUSAL = new Error('no connection');

/** Whether `fetch` refuses the port. The dispatcher throws instead of connecting. */
async function isRefused(port: number): Promise<boolean> {
  const dispatcher = {
    dispatch: () => {
      throw REFUSAL;
    },
  };
  const error: unknown = await fetch(`http://127.0.0.1:${port}/`, { dispatcher } as never).catch((reason: unknown) => reason);
  return (error as { readonly cause?: Error }).cause?.message === 'bad port';
}

it('exactly the ports that fetch refuses have a problem', async () => {
  const ports = Array.from({ length: 10_200 }, (_, port) => port).slice(1);
  const refused = [];
  for (const port of ports) if (await isRefused(port)) refused.push(port);
  expect(ports.filter((port) => portProblem(new URL(`http://x:${port}/`)) !== undefined)).toEqual(refused);
  expect(refused).toContain(6_000);
});
