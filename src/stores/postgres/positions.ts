/**
 * Positions come from a sequence, so appends to different logs do not wait for each other.
 *
 * - An append takes its positions while it holds the lock of its log. So the positions of a log become visible in their order.
 * - Before its first position, an append takes the shared lock of the writers, and holds the lock until its transaction ends. A
 *   reader of several logs reads the sequence first, and then waits for the writers that hold the lock at that moment. After this
 *   wait, every position up to the value of the sequence is visible, or will never be used.
 */
import { BEHIND_MS } from '../../core/clocks.ts';
import { OPEN } from '../item-row.ts';
import type { Query } from './database.ts';

/**
 * The function `append` makes one append in one statement, and returns:
 *
 * - `done`: the positions of the records, and their time
 * - `changed`: an item or a setting is no longer as the caller read it
 * - `later`: the log has a later time than the caller settled with, and an item to write contains the earlier time
 * - `dead`: the caller has repeated this call, and no longer waits for it
 * - `locked`: the server's default transaction is read-only, or would not see the commits of other transactions. The caller must
 *   begin its own transaction.
 *
 * Only `done` changes records, items and settings. A position that is not known yet is given as `base` plus the number of its
 * record, from 0.
 *
 * The function `queue` is the short form for one new notification of one audience. `queue` returns the position and the time, or
 * writes nothing and returns NULL if `append` must decide.
 *
 * Each call has a token, which its first record keeps. If the answer is lost, the caller repeats the call with the same token and
 * a higher `again`. The repeated call finds the records, or makes sure that the first call can no longer write.
 */
export const POSITIONS = `
  CREATE SEQUENCE @positions;
  SELECT setval('@positions', greatest(seq, 1), seq > 0) FROM @head;
  DROP TABLE @head;
  ALTER TABLE @records ADD COLUMN token bigint;
  CREATE TABLE @repeated (token bigint PRIMARY KEY, again integer NOT NULL, at timestamptz NOT NULL DEFAULT now());

  CREATE FUNCTION @append(
    p_log text, p_locks bigint[], p_ms integer, p_token bigint, p_again integer, p_floor bigint,
    p_base bigint, p_now bigint, p_at bigint, p_exact boolean,
    p_ids text[], p_carriers text[], p_known_seq bigint[], p_known_audience text[], p_known_state text[],
    p_keys text[], p_from text[], p_to text[],
    p_type text[], p_conversation text[], p_what text[], p_loose boolean[], p_body text[],
    p_gone_seq bigint[], p_gone_audience text[],
    p_seq bigint[], p_audience text[], p_id text[], p_item_at bigint[], p_clock bigint[], p_phase smallint[], p_level smallint[],
    p_gate boolean[], p_key text[], p_carrier text[], p_taken_by text[], p_closed_at bigint[], p_source bigint[],
    p_notification text[], p_state text[], p_history text[],
    OUT kind text, OUT seqs bigint[], OUT at bigint)
  LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $body$
  #variable_conflict use_column
  DECLARE
    v_lock bigint;
    v_last bigint;
    v_clock bigint;
    v_seqs bigint[] := '{}';
    v_at bigint := p_at;
  BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' OR current_setting('transaction_read_only') <> 'off' THEN
      kind := 'locked';
      RETURN;
    END IF;
    PERFORM set_config('lock_timeout', p_ms::text, true);
    FOREACH v_lock IN ARRAY p_locks LOOP
      PERFORM pg_advisory_xact_lock(v_lock);
    END LOOP;

    IF EXISTS (SELECT 1 FROM @repeated r WHERE r.token = p_token AND r.again > p_again) THEN
      kind := 'dead';
      RETURN;
    END IF;
    IF p_again > 0 THEN
      INSERT INTO @repeated (token, again) VALUES (p_token, p_again)
        ON CONFLICT (token) DO UPDATE SET again = excluded.again;
      SELECT r.seq, r.at INTO v_last, v_at FROM @records r WHERE r.log = p_log AND r.seq > p_floor AND r.token = p_token;
      IF FOUND THEN
        kind := 'done';
        -- The records of one append are the next ones of its log.
        seqs := ARRAY(SELECT r.seq FROM @records r WHERE r.log = p_log AND r.seq >= v_last ORDER BY r.seq LIMIT cardinality(p_body));
        at := v_at;
        RETURN;
      END IF;
      v_at := p_at;
    END IF;

    IF cardinality(p_ids) + cardinality(p_carriers) > 0 AND (
      SELECT count(*) <> cardinality(p_known_seq)
          OR count(*) <> count(*) FILTER (WHERE k.seq IS NOT NULL AND k.state IS NOT DISTINCT FROM i.state)
      FROM @items i LEFT JOIN unnest(p_known_seq, p_known_audience, p_known_state) AS k(seq, audience, state)
        ON k.seq = i.seq AND k.audience = i.audience
      WHERE i.log = p_log AND (i.id = ANY(p_ids) OR i.carrier = ANY(p_carriers))
    ) THEN
      kind := 'changed';
      RETURN;
    END IF;
    IF cardinality(p_keys) > 0 AND EXISTS (
      SELECT 1 FROM unnest(p_keys, p_from) AS w(key, value) LEFT JOIN @settings s ON s.key = w.key
      WHERE s.value IS DISTINCT FROM w.value
    ) THEN
      kind := 'changed';
      RETURN;
    END IF;
    SELECT r.at INTO v_last FROM @records r WHERE r.log = p_log ORDER BY r.seq DESC LIMIT 1;
    IF v_last > p_at THEN
      IF p_exact THEN
        kind := 'later';
        at := v_last;
        RETURN;
      END IF;
      v_at := v_last;
    END IF;

    IF cardinality(p_body) > 0 THEN
      IF v_last IS NULL AND NOT EXISTS (SELECT 1 FROM @logs l WHERE l.log = p_log) THEN
        INSERT INTO @logs (log) VALUES (p_log) ON CONFLICT DO NOTHING;
      END IF;
      v_clock := CASE WHEN v_at - p_now >= ${BEHIND_MS} THEN p_now END;

      PERFORM pg_advisory_xact_lock_shared(('@positions'::regclass::oid::bigint - 2147483648)::integer, 1);
      v_seqs := ARRAY(SELECT nextval('@positions') FROM generate_series(1, cardinality(p_body)));

      INSERT INTO @records (log, seq, at, clock, type, conversation, what, loose, body, token)
        SELECT p_log, r.seq, v_at, v_clock, r.type, r.conversation, r.what, r.loose, r.body,
          CASE WHEN r.seq = v_seqs[1] THEN p_token END
        FROM unnest(v_seqs, p_type, p_conversation, p_what, p_loose, p_body) AS r(seq, type, conversation, what, loose, body);
    END IF;

    IF cardinality(p_gone_seq) > 0 THEN
      DELETE FROM @items i USING unnest(p_gone_seq, p_gone_audience) AS g(seq, audience)
        WHERE i.log = p_log AND i.seq = g.seq AND i.audience = g.audience;
    END IF;
    IF cardinality(p_seq) > 0 THEN
      INSERT INTO @items (log, seq, audience, id, at, clock, phase, level, gate, key, carrier, taken_by, closed_at, source, notification, state)
        SELECT p_log,
          CASE WHEN n.seq >= p_base THEN v_seqs[n.seq - p_base + 1] ELSE n.seq END,
          n.audience, n.id,
          CASE WHEN n.seq >= p_base THEN v_at ELSE n.at END,
          CASE WHEN n.seq >= p_base THEN v_clock ELSE n.clock END,
          n.phase, n.level, n.gate, n.key, n.carrier, n.taken_by, n.closed_at,
          CASE WHEN n.source >= p_base THEN v_seqs[n.source - p_base + 1] ELSE n.source END,
          n.notification,
          CASE WHEN n.state IS NOT NULL THEN n.state || (
            SELECT string_agg((CASE WHEN h.seq >= p_base THEN v_seqs[h.seq - p_base + 1] ELSE h.seq END)::text, ',' ORDER BY h.nth)
            FROM unnest(n.history::bigint[]) WITH ORDINALITY AS h(seq, nth)) || ']}' END
        FROM unnest(p_seq, p_audience, p_id, p_item_at, p_clock, p_phase, p_level, p_gate, p_key, p_carrier, p_taken_by, p_closed_at,
          p_source, p_notification, p_state, p_history)
          AS n(seq, audience, id, at, clock, phase, level, gate, key, carrier, taken_by, closed_at, source, notification, state, history)
        ON CONFLICT (log, seq, audience) DO UPDATE SET
          (phase, gate, carrier, taken_by, closed_at, state) =
          (excluded.phase, excluded.gate, excluded.carrier, excluded.taken_by, excluded.closed_at, excluded.state);
    END IF;

    IF cardinality(p_keys) > 0 THEN
      DELETE FROM @settings s USING unnest(p_keys, p_to) AS w(key, value) WHERE s.key = w.key AND w.value IS NULL;
      INSERT INTO @settings (key, value)
        SELECT w.key, w.value FROM unnest(p_keys, p_to) AS w(key, value) WHERE w.value IS NOT NULL
        ON CONFLICT (key) DO UPDATE SET value = excluded.value;
    END IF;
    kind := 'done';
    seqs := v_seqs;
    at := v_at;
  END $body$;

  CREATE FUNCTION @queue(
    p_log text, p_lock bigint, p_ms integer, p_token bigint, p_now bigint, p_at bigint,
    p_type text, p_conversation text, p_body text,
    p_id text, p_audience text, p_level smallint, p_gate boolean, p_key text, p_notification text)
  RETURNS bigint[] LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    v_is_refused boolean;
    v_at bigint;
    v_clock bigint;
    v_seq bigint;
    v_set text;
  BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' OR current_setting('transaction_read_only') <> 'off' THEN
      RETURN NULL;
    END IF;
    -- A single expression needs no query, which saves a tenth of the server's time.
    v_set := set_config('lock_timeout', p_ms::text, true);
    IF pg_advisory_xact_lock(p_lock) IS NULL THEN
      RETURN NULL;
    END IF;
    SELECT EXISTS (SELECT 1 FROM @repeated r WHERE r.token = p_token)
        OR EXISTS (SELECT 1 FROM @items i WHERE i.log = p_log AND i.id = p_id),
      (SELECT r.at FROM @records r WHERE r.log = p_log ORDER BY r.seq DESC LIMIT 1)
      INTO v_is_refused, v_at;
    IF v_is_refused THEN
      RETURN NULL;
    END IF;
    IF v_at IS NULL THEN
      INSERT INTO @logs (log) VALUES (p_log) ON CONFLICT DO NOTHING;
    END IF;
    v_at := greatest(v_at, p_at);
    IF v_at - p_now >= ${BEHIND_MS} THEN
      v_clock := p_now;
    END IF;
    IF pg_advisory_xact_lock_shared(('@positions'::regclass::oid::bigint - 2147483648)::integer, 1) IS NULL THEN
      RETURN NULL;
    END IF;
    v_seq := nextval('@positions');
    INSERT INTO @records (log, seq, at, clock, type, conversation, loose, body, token)
      VALUES (p_log, v_seq, v_at, v_clock, p_type, p_conversation, false, p_body, p_token);
    INSERT INTO @items (log, seq, audience, id, at, clock, phase, level, gate, key, notification)
      VALUES (p_log, v_seq, p_audience, p_id, v_at, v_clock, ${OPEN}, p_level, p_gate, p_key, p_notification);
    RETURN ARRAY[v_seq, v_at];
  END $body$;

  CREATE FUNCTION @settled(p_ms integer) RETURNS bigint
  LANGUAGE plpgsql AS $body$
  DECLARE
    v_newest bigint;
    v_writers text[];
    v_begun timestamptz := clock_timestamp();
  BEGIN
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO v_newest FROM @positions;
    v_writers := ARRAY(SELECT virtualtransaction FROM pg_catalog.pg_locks
      WHERE locktype = 'advisory' AND objsubid = 2 AND objid = 1 AND mode = 'ShareLock' AND granted
      AND (classid::bigint + 2147483648) % 4294967296 = '@positions'::regclass::oid::bigint
      AND database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = current_database()));
    WHILE cardinality(v_writers) > 0 LOOP
      IF clock_timestamp() > v_begun + p_ms * interval '1 ms' THEN
        RAISE EXCEPTION 'a transaction that appends has not ended' USING ERRCODE = 'lock_not_available';
      END IF;
      PERFORM pg_sleep(0.001);
      v_writers := ARRAY(SELECT virtualtransaction FROM pg_catalog.pg_locks
        WHERE locktype = 'advisory' AND objsubid = 2 AND objid = 1 AND virtualtransaction = ANY(v_writers));
    END LOOP;
    RETURN v_newest;
  END $body$;
`;

/**
 * Returns a position up to which every record is visible. Later records get only higher positions. Rejects if a writer does not
 * end within `ms`.
 */
export async function settledUpTo(query: Query, ms: number): Promise<number> {
  const [row] = await query<{ newest: number }>('SELECT @settled($1) AS newest', Math.ceil(ms));
  return row?.newest ?? 0;
}

/**
 * Forgets the calls that were repeated more than a day ago. The first tries of these calls have long ended and cannot write any
 * more.
 */
export const pruneRepeated = (query: Query): Promise<unknown> =>
  query("DELETE FROM @repeated WHERE at < now() - interval '1 day'");

/** The SQL expression for the newest position that was given to a writer. */
export const NEWEST = '(SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM @positions)';
