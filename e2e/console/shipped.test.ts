/** Tests that the page shows the text of each shipped subscriber for its samples: a table as a table, other texts as words. */
import { expect, test } from 'vitest';
import { previewOf, shippedFolder, subscriberFolders, templateEngine } from '../../src/bus/index.ts';
import { SAMPLES, sampleEvent } from '../../src/bus/samples.ts';
import { bodyOf, tableIn } from '../../console/src/state/text.ts';
import { proves } from '../verifies.ts';

test('each text of a shipped subscriber is shown with all its words, even if it is not TOON', async () => {
  proves('console:toon');
  await using engine = templateEngine();
  const shipped = subscriberFolders({ shipped: shippedFolder(), user: '/nowhere', projectRoot: () => undefined });
  const { subscribers } = shipped.of('shop');
  expect(subscribers.length).toBeGreaterThan(8);
  const texts: string[] = [];
  for (const subscriber of subscribers) {
    // One sample for each event type of the subscriber.
    const types = subscriber.events.types.filter((type) => type in SAMPLES);
    for (const type of types.length === 0 ? subscriber.events.types.slice(0, 1) : types) {
      const one = { ...subscriber, events: { ...subscriber.events, types: [type] } };
      const { words, failed } = await previewOf(one, engine, { now: 1_000, subject: 'shop/coder' });
      expect([sampleEvent(one).type, failed]).toEqual([sampleEvent(one).type, undefined]);
      texts.push(bodyOf(words, 'default'));
    }
  }
  expect(texts.length).toBeGreaterThan(30);
  for (const text of texts) expect(tableIn(text) === null || /^\w+\[\d+\]\{/u.test(text)).toBe(true);
});
