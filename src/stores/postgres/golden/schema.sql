CREATE SCHEMA earpiece;
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
CREATE TABLE earpiece.head (
    one boolean DEFAULT true NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    CONSTRAINT head_one_check CHECK (one)
)
WITH (fillfactor='10');
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
CREATE TABLE earpiece.records (
    log text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    at bigint NOT NULL,
    clock bigint,
    type text NOT NULL COLLATE pg_catalog."C",
    conversation text COLLATE pg_catalog."C",
    what text,
    loose boolean NOT NULL,
    body text NOT NULL
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
ALTER TABLE ONLY earpiece.head
    ADD CONSTRAINT head_pkey PRIMARY KEY (one);
ALTER TABLE ONLY earpiece.items
    ADD CONSTRAINT items_pkey PRIMARY KEY (log, seq, audience);
ALTER TABLE ONLY earpiece.logs
    ADD CONSTRAINT logs_pkey PRIMARY KEY (log);
ALTER TABLE ONLY earpiece.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (key);
ALTER TABLE ONLY earpiece.records
    ADD CONSTRAINT records_pkey PRIMARY KEY (log, seq);
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
