/** Tests reads of records by log, project, position, conversation and type. */
import type { LogKey } from '../../../core/address.ts';
import type { ReadQuery } from '../../../core/ports.ts';
import { equal } from '../check.ts';
import { conversation, ELSEWHERE, LOG, OTHER, queued, said } from '../drafts.ts';
import type { Suite } from '../suite.ts';

type Row = readonly [query: ReadQuery, expected: readonly number[]];

export function reading({ test }: Suite): void {
  for (const [query, expected] of ROWS)
    test(JSON.stringify(query), async ({ store, append }) => {
      await append(queued('a'), said('1', 'x'), said('2', 'y'));
      await store.append(OTHER, [said('3', 'x')]);
      await store.append(ELSEWHERE, [said('4', 'x'), { type: 'of_the_future' }]);
      equal(
        (await store.read(query)).map((one) => one.seq),
        expected,
      );
    });
}

const ROWS: readonly Row[] = [
  [{}, [1, 2, 3, 4, 5, 6]],
  [{ log: LOG }, [1, 2, 3]],
  [{ log: 'no/body' as LogKey }, []],
  [{ project: 'shop' }, [1, 2, 3, 4]],
  [{ project: 'sho' }, []],
  [{ after: 2 }, [3, 4, 5, 6]],
  [{ after: 2, upTo: 4 }, [3, 4]],
  [{ after: 6 }, []],
  [{ log: LOG, after: 1, limit: 1 }, [2]],
  [{ limit: 0 }, []],
  [{ conversation: conversation('x') }, [2, 4, 5]],
  [{ project: 'shop', conversation: conversation('x') }, [2, 4]],
  [{ types: ['chat_response'] }, [2, 3, 4, 5]],
  [{ types: ['of_the_future', 'system_notification_queued'] }, [1, 6]],
  [{ types: [] }, []],
  [{ seqs: [5, 1, 99] }, [1, 5]],
  [{ seqs: [5, 1], log: LOG }, [1]],
  [{ seqs: [] }, []],
  [{ newestFirst: true, limit: 2 }, [6, 5]],
  [{ newestFirst: true, log: LOG, after: 1 }, [3, 2]],
];
