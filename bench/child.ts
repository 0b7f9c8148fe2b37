// Runs one row and sends its figures: `child.ts NAME FOLDER [quick]`, forked by main.ts.
import type { Row } from './row.ts';

const [name = '', folder = '', quick] = process.argv.slice(2);

try {
  const { row } = (await import(`./rows/${name}.ts`)) as { row: Row };
  const measured = await row.run({ quick: quick === 'quick', folder });
  // JSON cannot represent NaN, so a bug in a row is reported here with the name of the figure.
  for (const [figure, { value }] of Object.entries(measured.figures))
    if (!Number.isFinite(value)) throw new Error(`${figure} was not measured (${value})`);
  await send({ measured });
} catch (error) {
  await send({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}
process.exit();

function send(message: object): Promise<void> {
  return new Promise((resolve, reject) => process.send?.(message, (error: Error | null) => (error ? reject(error) : resolve())));
}
