/** Compares Earpiece with other programs, from a call in one process to the receipt in another process. */
import { median, versus } from '../rounds.ts';
import type { Figure, Measured } from '../row.ts';
import { atOnce, between, oneByOne, type Received } from './receive.ts';
import type { SideName } from './sides.ts';

type Against = { readonly name: SideName; readonly url: string };

export async function receiving(
  ours: string,
  { theirs, beside = [], quick }: { theirs: Against; beside?: readonly Against[]; quick: boolean },
): Promise<Measured> {
  const opened = new Map<string, Received>();
  try {
    for (const { name, url } of [{ name: 'earpiece', url: ours } as const, theirs, ...beside])
      opened.set(name, await between(name, url));
    const of = (name: string): Received => opened.get(name) as Received;
    const single = (name: string) => () => oneByOne(of(name), quick ? 5 : 60);
    const measured = await versus({
      ours: single('earpiece'),
      theirs: single(theirs.name),
      beside: Object.fromEntries(beside.map(({ name }) => [name, single(name)])),
      unit: 'ms',
      rounds: quick ? 1 : 7,
    });
    const rates: Record<string, Figure> = {};
    for (const name of opened.keys()) {
      const seen: number[] = [];
      for (let round = 0; round < (quick ? 1 : 3); round++) seen.push(await atOnce(of(name), quick ? 50 : 1_000));
      rates[`eight at once, ${name}`] = { value: median(seen), unit: '/s' };
    }
    return { ...measured, figures: { ...measured.figures, ...rates } };
  } finally {
    for (const each of opened.values()) await each.close();
  }
}
