CREATE SCHEMA earpiece;
CREATE FUNCTION earpiece.append(p_log text, p_locks bigint[], p_ms integer, p_token bigint, p_again integer, p_floor bigint, p_base bigint, p_now bigint, p_at bigint, p_exact boolean, p_ids text[], p_carriers text[], p_known_seq bigint[], p_known_audience text[], p_known_state text[], p_keys text[], p_from text[], p_to text[], p_type text[], p_conversation text[], p_what text[], p_loose boolean[], p_body text[], p_gone_seq bigint[], p_gone_audience text[], p_seq bigint[], p_audience text[], p_id text[], p_item_at bigint[], p_clock bigint[], p_phase smallint[], p_level smallint[], p_gate boolean[], p_key text[], p_carrier text[], p_taken_by text[], p_closed_at bigint[], p_source bigint[], p_notification text[], p_state text[], p_history text[], OUT kind text, OUT seqs bigint[], OUT at bigint) RETURNS record
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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
    IF EXISTS (SELECT 1 FROM "earpiece".repeated r WHERE r.token = p_token AND r.again > p_again) THEN
      kind := 'dead';
      RETURN;
    END IF;
    IF p_again > 0 THEN
      INSERT INTO "earpiece".repeated (token, again) VALUES (p_token, p_again)
        ON CONFLICT (token) DO UPDATE SET again = excluded.again;
      SELECT r.seq, r.at INTO v_last, v_at FROM "earpiece".records r WHERE r.log = p_log AND r.seq > p_floor AND r.token = p_token;
      IF FOUND THEN
        kind := 'done';
        -- The records of one append are the next ones of its log.
        seqs := ARRAY(SELECT r.seq FROM "earpiece".records r WHERE r.log = p_log AND r.seq >= v_last ORDER BY r.seq LIMIT cardinality(p_body));
        at := v_at;
        RETURN;
      END IF;
      v_at := p_at;
    END IF;
    IF cardinality(p_ids) + cardinality(p_carriers) > 0 AND (
      SELECT count(*) <> cardinality(p_known_seq)
          OR count(*) <> count(*) FILTER (WHERE k.seq IS NOT NULL AND k.state IS NOT DISTINCT FROM i.state)
      FROM "earpiece".items i LEFT JOIN unnest(p_known_seq, p_known_audience, p_known_state) AS k(seq, audience, state)
        ON k.seq = i.seq AND k.audience = i.audience
      WHERE i.log = p_log AND (i.id = ANY(p_ids) OR i.carrier = ANY(p_carriers))
    ) THEN
      kind := 'changed';
      RETURN;
    END IF;
    IF cardinality(p_keys) > 0 AND EXISTS (
      SELECT 1 FROM unnest(p_keys, p_from) AS w(key, value) LEFT JOIN "earpiece".settings s ON s.key = w.key
      WHERE s.value IS DISTINCT FROM w.value
    ) THEN
      kind := 'changed';
      RETURN;
    END IF;
    SELECT r.at INTO v_last FROM "earpiece".records r WHERE r.log = p_log ORDER BY r.seq DESC LIMIT 1;
    IF v_last > p_at THEN
      IF p_exact THEN
        kind := 'later';
        at := v_last;
        RETURN;
      END IF;
      v_at := v_last;
    END IF;
    IF cardinality(p_body) > 0 THEN
      IF v_last IS NULL AND NOT EXISTS (SELECT 1 FROM "earpiece".logs l WHERE l.log = p_log) THEN
        INSERT INTO "earpiece".logs (log) VALUES (p_log) ON CONFLICT DO NOTHING;
      END IF;
      v_clock := CASE WHEN v_at - p_now >= 60000 THEN p_now END;
      PERFORM pg_advisory_xact_lock_shared(('"earpiece".positions'::regclass::oid::bigint - 2147483648)::integer, 1);
      v_seqs := ARRAY(SELECT nextval('"earpiece".positions') FROM generate_series(1, cardinality(p_body)));
      INSERT INTO "earpiece".records (log, seq, at, clock, type, conversation, what, loose, body, token)
        SELECT p_log, r.seq, v_at, v_clock, r.type, r.conversation, r.what, r.loose, r.body,
          CASE WHEN r.seq = v_seqs[1] THEN p_token END
        FROM unnest(v_seqs, p_type, p_conversation, p_what, p_loose, p_body) AS r(seq, type, conversation, what, loose, body);
    END IF;
    IF cardinality(p_gone_seq) > 0 THEN
      DELETE FROM "earpiece".items i USING unnest(p_gone_seq, p_gone_audience) AS g(seq, audience)
        WHERE i.log = p_log AND i.seq = g.seq AND i.audience = g.audience;
    END IF;
    IF cardinality(p_seq) > 0 THEN
      INSERT INTO "earpiece".items (log, seq, audience, id, at, clock, phase, level, gate, key, carrier, taken_by, closed_at, source, notification, state)
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
      DELETE FROM "earpiece".settings s USING unnest(p_keys, p_to) AS w(key, value) WHERE s.key = w.key AND w.value IS NULL;
      INSERT INTO "earpiece".settings (key, value)
        SELECT w.key, w.value FROM unnest(p_keys, p_to) AS w(key, value) WHERE w.value IS NOT NULL
        ON CONFLICT (key) DO UPDATE SET value = excluded.value;
    END IF;
    kind := 'done';
    seqs := v_seqs;
    at := v_at;
  END $$;
CREATE FUNCTION earpiece.page(p_after text, p_project text, p_limit integer) RETURNS SETOF text
    LANGUAGE plpgsql STABLE ROWS 100
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
  DECLARE
    v_from text COLLATE "C" := greatest(p_after COLLATE "C", p_project || '/');
    v_end text COLLATE "C" := p_project || '0';
    v_log text COLLATE "C";
    v_left integer := p_limit;
  BEGIN
    FOR v_log IN SELECT l.log FROM "earpiece".logs l WHERE l.log > v_from ORDER BY l.log LOOP
      EXIT WHEN v_left <= 0 OR v_log >= v_end;
      CONTINUE WHEN right(v_log, 2) = '/*';
      CONTINUE WHEN NOT EXISTS (SELECT 1 FROM "earpiece".records r WHERE r.log = v_log)
        AND NOT EXISTS (SELECT 1 FROM "earpiece".conversations c WHERE c.log = v_log);
      RETURN NEXT v_log;
      v_left := v_left - 1;
    END LOOP;
  END $$;
CREATE FUNCTION earpiece.queue(p_log text, p_lock bigint, p_ms integer, p_token bigint, p_now bigint, p_at bigint, p_type text, p_conversation text, p_body text, p_id text, p_audience text, p_level smallint, p_gate boolean, p_key text, p_notification text) RETURNS bigint[]
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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
    SELECT EXISTS (SELECT 1 FROM "earpiece".repeated r WHERE r.token = p_token)
        OR EXISTS (SELECT 1 FROM "earpiece".items i WHERE i.log = p_log AND i.id = p_id),
      (SELECT r.at FROM "earpiece".records r WHERE r.log = p_log ORDER BY r.seq DESC LIMIT 1)
      INTO v_is_refused, v_at;
    IF v_is_refused THEN
      RETURN NULL;
    END IF;
    IF v_at IS NULL THEN
      INSERT INTO "earpiece".logs (log) VALUES (p_log) ON CONFLICT DO NOTHING;
    END IF;
    v_at := greatest(v_at, p_at);
    IF v_at - p_now >= 60000 THEN
      v_clock := p_now;
    END IF;
    IF pg_advisory_xact_lock_shared(('"earpiece".positions'::regclass::oid::bigint - 2147483648)::integer, 1) IS NULL THEN
      RETURN NULL;
    END IF;
    v_seq := nextval('"earpiece".positions');
    INSERT INTO "earpiece".records (log, seq, at, clock, type, conversation, loose, body, token)
      VALUES (p_log, v_seq, v_at, v_clock, p_type, p_conversation, false, p_body, p_token);
    INSERT INTO "earpiece".items (log, seq, audience, id, at, clock, phase, level, gate, key, notification)
      VALUES (p_log, v_seq, p_audience, p_id, v_at, v_clock, 0, p_level, p_gate, p_key, p_notification);
    RETURN ARRAY[v_seq, v_at];
  END $$;
CREATE FUNCTION earpiece.settled(p_ms integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
  DECLARE
    v_newest bigint;
    v_writers text[];
    v_begun timestamptz := clock_timestamp();
  BEGIN
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO v_newest FROM "earpiece".positions;
    v_writers := ARRAY(SELECT virtualtransaction FROM pg_catalog.pg_locks
      WHERE locktype = 'advisory' AND objsubid = 2 AND objid = 1 AND mode = 'ShareLock' AND granted
      AND (classid::bigint + 2147483648) % 4294967296 = '"earpiece".positions'::regclass::oid::bigint
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
  END $$;
CREATE TABLE earpiece.bindings (
    machine text NOT NULL COLLATE pg_catalog."C",
    pid bigint NOT NULL,
    started_at text NOT NULL COLLATE pg_catalog."C",
    log text NOT NULL COLLATE pg_catalog."C",
    conversation text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL
);
CREATE TABLE earpiece.conversations (
    log text NOT NULL COLLATE pg_catalog."C",
    conversation text NOT NULL COLLATE pg_catalog."C",
    seen_at bigint NOT NULL,
    ended_at bigint,
    presence text NOT NULL
);
CREATE TABLE earpiece.items (
    log text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    audience text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    clock bigint,
    phase smallint NOT NULL,
    level smallint NOT NULL,
    gate boolean NOT NULL,
    key text COLLATE pg_catalog."C",
    carrier text COLLATE pg_catalog."C",
    taken_by text COLLATE pg_catalog."C",
    closed_at bigint,
    source bigint,
    notification text NOT NULL,
    state text
);
CREATE TABLE earpiece.logs (
    log text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE earpiece.meta (
    key text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL
);
CREATE SEQUENCE earpiece.positions
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE earpiece.records (
    log text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    at bigint NOT NULL,
    clock bigint,
    type text NOT NULL COLLATE pg_catalog."C",
    conversation text COLLATE pg_catalog."C",
    what text,
    loose boolean NOT NULL,
    body text NOT NULL,
    token bigint
);
CREATE TABLE earpiece.repeated (
    token bigint NOT NULL,
    again integer NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE earpiece.settings (
    key text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL
);
CREATE TABLE earpiece.withheld (
    log text NOT NULL COLLATE pg_catalog."C",
    conversation text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    until bigint NOT NULL,
    tool text NOT NULL,
    body text NOT NULL
);
ALTER TABLE ONLY earpiece.bindings
    ADD CONSTRAINT bindings_pkey PRIMARY KEY (machine, pid, started_at);
ALTER TABLE ONLY earpiece.conversations
    ADD CONSTRAINT conversations_pkey PRIMARY KEY (log, conversation);
ALTER TABLE ONLY earpiece.items
    ADD CONSTRAINT items_pkey PRIMARY KEY (log, seq, audience);
ALTER TABLE ONLY earpiece.logs
    ADD CONSTRAINT logs_pkey PRIMARY KEY (log);
ALTER TABLE ONLY earpiece.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (key);
ALTER TABLE ONLY earpiece.records
    ADD CONSTRAINT records_pkey PRIMARY KEY (log, seq);
ALTER TABLE ONLY earpiece.repeated
    ADD CONSTRAINT repeated_pkey PRIMARY KEY (token);
ALTER TABLE ONLY earpiece.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (key);
ALTER TABLE ONLY earpiece.withheld
    ADD CONSTRAINT withheld_pkey PRIMARY KEY (log, conversation, id);
CREATE INDEX items_carrier ON earpiece.items USING btree (log, carrier) WHERE (carrier IS NOT NULL);
CREATE INDEX items_closed ON earpiece.items USING btree (log, closed_at, seq) WHERE (closed_at IS NOT NULL);
CREATE INDEX items_gate ON earpiece.items USING btree (log, seq) WHERE gate;
CREATE INDEX items_id ON earpiece.items USING btree (log, id);
CREATE INDEX items_key ON earpiece.items USING btree (log, key, seq) WHERE ((phase = 0) AND (key IS NOT NULL));
CREATE INDEX items_open ON earpiece.items USING btree (log, seq, audience) WHERE (phase = 0);
CREATE INDEX items_source ON earpiece.items USING btree (log, source) WHERE (source IS NOT NULL);
CREATE INDEX items_unread ON earpiece.items USING btree (log, seq, audience) WHERE (phase = 1);
CREATE INDEX records_loose ON earpiece.records USING btree (log, at) WHERE loose;
CREATE INDEX records_seq ON earpiece.records USING btree (seq);
CREATE INDEX records_work ON earpiece.records USING btree (log, seq) WHERE (type = ANY (ARRAY['turn_start'::text, 'chat_request'::text, 'chat_response'::text, 'tool_call_request'::text, 'tool_call_response'::text, 'agent_stopped'::text, 'agent_failed'::text, 'carrier_offered'::text, 'carrier_confirmed'::text]));
