/**
 * Lists Earpiece's promises, by id. A test that proves a promise cites its id (`verifies`, `proves`). `requirements.test.ts`
 * fails on a promise that no test cites or no page names.
 */
type Requirement = { readonly behaviour: string };

export const REQUIREMENTS = {
  // Projects.
  'project:unique': {
    behaviour:
      'Each project name belongs to one repository. A second repository with the same name gets a longer name, and Earpiece reports the longer name once.',
  },
  'project:moved': {
    behaviour:
      'If a project folder has moved and the old path does not exist, the project keeps its name after a person confirms the move once. EARPIECE_PROJECT can also name the project.',
  },
  'project:foreign': { behaviour: 'An untrusted file cannot take the project name or address of another repository.' },
  'trust:person': {
    behaviour: "An untrusted project file cannot lower, expire, drop, shorten or hide a person's critical notification or pause.",
  },
  'trust:speech': {
    behaviour:
      'A cloned repository cannot influence the model before a person trusts it: its files set no system prompt, model, waking or subscriber.',
  },

  // The log: recording and recovery.
  'log:queued-first': { behaviour: 'A queued notification is in the log before anything delivers it.' },
  'log:durable': { behaviour: 'An acknowledged notification survives kill -9 of the process that wrote it.' },
  'queue:own-id': {
    behaviour:
      'A notification with a used id is refused if its sender or its action differs. No sender can choose an id that Earpiece makes for the notification of an event.',
  },
  'log:idempotent': { behaviour: 'A notification id is queued once, even if several producers repeat it.' },
  'log:replay': {
    behaviour: 'A replay of any prefix of a log gives the notifications that were open after the last record of the prefix.',
  },
  'log:unknown-types': { behaviour: 'Unknown record types and fields are read back unchanged.' },
  'log:omits-defaults': { behaviour: 'A stored record omits the level info and empty lists.' },
  'time:own-clock': {
    behaviour:
      'A process uses its own clock. A wrong clock of another process neither ends nor delays notifications of other producers.',
  },
  'time:sender': { behaviour: "If a producer's clock is a year off, its notifications neither expire early nor arrive late." },
  'time:witness': {
    behaviour:
      'A process closes expired notifications only if the clock of another live process agrees. Pruning also needs such a process, or an agreeing clock of the operating system.',
  },
  'log:clock': { behaviour: 'The time of a log never runs backwards, even if the clock does.' },
  'log:closes-once': {
    behaviour:
      'In each conversation, a notification closes once. Only a delivery that proves to be lost opens the notification again.',
  },
  'log:fork': { behaviour: 'A fork keeps the open notifications of its origin, with the same ids.' },
  'log:retention': {
    behaviour:
      'Retention prunes the records of closed notifications. The rest of the log replays to the same open notifications.',
  },
  'log:archive': {
    behaviour:
      'With an archive, each record is in exactly one file before it can be pruned, even if processes are killed or prune at once. earpiece forget removes the files of its agent.',
  },
  'log:archive-unwritable': {
    behaviour:
      'If the archive cannot be written, nothing is pruned. The command or the housekeeping names the folder and the reason, and says what to do. No agent waits.',
  },
  'log:allowlist': {
    behaviour: 'Only chat and tool records become part of a request to a provider.',
  },
  'log:redacted-carrier': {
    behaviour: 'If the provider provably refuses a request because of a notification, one line replaces the notification.',
  },

  // Stores.
  'store:contract': {
    behaviour: 'Every store passes the contract suite. A store may lack a named capability, and gives the reason.',
  },
  'store:contract-holes': {
    behaviour: 'If a reopened store has lost acknowledged data, the contract suite fails and names the broken rule.',
  },
  'store:postgres': {
    behaviour:
      'A PostgreSQL database can hold the logs of many machines. Its store passes the contract on PostgreSQL 15 and 18, and records become visible in the order of their positions.',
  },
  'store:postgres-schema': {
    behaviour: 'The PostgreSQL schema after all migrations equals the golden file, even if several processes create it at once.',
  },
  'store:postgres-hosts': {
    behaviour:
      'A URL with several hosts finds the primary, at the start and after a standby has taken over. No call reads from a standby.',
  },
  'store:postgres-failover': {
    behaviour:
      'When PostgreSQL restarts or a synchronous standby takes over, calls wait, and no acknowledged record is lost or duplicated.',
  },
  'store:postgres-pooler': {
    behaviour: 'The PostgreSQL store works behind a pooler that gives each transaction another connection.',
  },
  'store:postgres-errors': {
    behaviour: 'An error of PostgreSQL names the database and the reason, says what to do, and never shows the password.',
  },
  'store:postgres-tls': { behaviour: 'With sslmode=verify-full, only a certificate of the given authority opens a connection.' },
  'fleet:one': {
    behaviour:
      'Several servers on one PostgreSQL or JetStream behave as one: a stream continues on another node, and a notification that is queued on one node aborts an answer or wakes an agent on another node, once.',
  },
  'fleet:node-killed': {
    behaviour:
      'If a node of a fleet is killed in the middle of a conversation, the agent continues on another machine. The console shows each record once on another node.',
  },
  'fleet:follower': {
    behaviour:
      'The followers of a project run on one machine of a fleet. Two minutes after this machine has died, another machine can run the followers.',
  },
  'fleet:deploy': {
    behaviour: 'Validators accept the Compose file and the Kubernetes manifests, and their commands start a server.',
  },
  'store:nats': {
    behaviour: 'NATS JetStream 2.10 keeps the logs of a fleet: with one and with three copies, the store passes the contract.',
  },
  'store:nats-failover': {
    behaviour:
      'When a NATS server is killed, or a cluster of three loses its leader, calls wait, and no acknowledged record is lost or duplicated.',
  },
  'store:nats-errors': {
    behaviour:
      'An error of the NATS store names the servers and the reason, and says what to do. A server older than 2.10 is refused.',
  },
  'store:migrate': {
    behaviour:
      'earpiece migrate moves everything to another engine: each record keeps its position and time, and readers get the same answers as before.',
  },
  'store:migrate-used': {
    behaviour: 'earpiece migrate names the agents and programs that use the database, and changes nothing until a person agrees.',
  },
  'store:migrate-back': {
    behaviour:
      'After a migration of a database file, the printed command moves everything back to the old file, with all later changes.',
  },
  'store:migrate-killed': {
    behaviour: 'A migration that is killed anywhere continues with the same command, and no record is lost or duplicated.',
  },
  'store:migrate-closed': {
    behaviour:
      'From the start of a migration on, its source refuses all writes, and no process can open an unfinished target by mistake.',
  },
  'store:migrate-refused': {
    behaviour:
      'A migration refuses a wrong source or target. The error names the reason and says what to do, and never shows a password.',
  },
  'store:thread': {
    behaviour:
      'A separate thread commits the waiting writes of all callers together and answers each caller. While another process holds the write lock of the database, the event loop of the callers keeps running.',
  },
  'store:thread-quiet': {
    behaviour:
      'After each commit of another process, the store thread can say at once whether a notification is open for a conversation.',
  },
  'store:unknown-outcome': {
    behaviour:
      'If the store does not answer a queue in time, the error has the id of the notification. A repetition with this id queues the notification once.',
  },
  'store:frozen-disk': {
    behaviour:
      'A frozen disk or a held lock delays no call by more than 300 ms. The waiting notifications arrive afterwards, once.',
  },
  'gate:early': {
    behaviour:
      'A refusal that the gateway sends before the store answers is recorded once when the store answers, also if the interrupt has ended. If a person has lifted the pause in the meantime, the agent is notified.',
  },
  'gate:unwritable': {
    behaviour:
      'A raised gate refuses calls even while the database cannot be written. A pause refuses calls until a person lifts it. A critical notification refuses calls until a call begins 1 s after the last refusal.',
  },
  'lease:client-ended': {
    behaviour:
      'After the client has closed its end of stdio, no result carries notifications. Notifications in an answer that was not written before do not count as delivered, and are offered again.',
  },
  'lease:cancelled-early': {
    behaviour:
      'If the cancel of a call reaches the gateway before the answer leaves, the notifications in the answer do not count as delivered or read.',
  },
  'lease:client-died': {
    behaviour:
      'If a client is killed within 250 ms of an answer, the next session gets the notification again, marked as repeated. Over HTTP, this promise needs a connection that is open when the client is killed.',
  },
  'store:no-starving': { behaviour: 'While two producers write without pause, a carrier is written within 200 ms.' },
  'store:processes': { behaviour: 'When several processes append to one file, no record is lost or damaged.' },
  'store:half-deleted': {
    behaviour:
      'If the main file, its -wal or its -shm is deleted, replaced or truncated while in use, no acknowledged record is lost silently.',
  },
  'store:locks': { behaviour: 'A process keeps its locks on a database while it checks, waits for and closes the files.' },
  'store:replaced': {
    behaviour: 'A file that replaces an open database keeps all its records; the -wal and the -shm of the old file are renamed.',
  },
  'store:kill-9': { behaviour: 'After kill -9 between any two writes, the database opens and is sound.' },
  'store:refuses': {
    behaviour: 'Earpiece refuses a network file system, an old SQLite and a foreign file, and says what to do.',
  },
  'store:private': {
    behaviour:
      'Only the user can read a database file that Earpiece makes. Earpiece removes the rights of other users from an existing file. The rights of its group stay.',
  },
  'store:upgrade': {
    behaviour: "A database from before 0.1.0 opens and keeps open notifications, gates, mutes and the project's name.",
  },
  'store:schema': { behaviour: 'The schema after all migrations equals the golden file.' },
  'store:watch': { behaviour: 'A watcher in another process sees every record once and in order.' },
  'store:unread-check': {
    behaviour: 'One index shows whether a notification is open, in at most 10 ms with 1,000 open notifications.',
  },
  'faults:points': {
    behaviour:
      'If a process exits at any named write boundary (20 times each in npm run faults), no notification is lost and none closes twice.',
  },
  'faults:random': {
    behaviour: 'Under random kill -9 and pauses of five processes on one store, no notification is lost and none closes twice.',
  },
  'faults:schedules': {
    behaviour:
      'A seed determines a schedule of kills, pauses, clock jumps, false wake-ups, lost servers and failing disks. The checker of a schedule detects a lost notification, an unmarked repeat and a record that a reader misses.',
  },
  'faults:checker': { behaviour: 'The checker of the fault runs detects five deliberate bugs.' },
  'faults:system': {
    behaviour:
      'Under kill -9 of all components, no acknowledged notification is lost, and repeats are marked. Tool output is unchanged, and no call passes a raised gate.',
  },
  'faults:system-checker': {
    behaviour:
      'The checker of the system storm uses only frames of clients and answers to producers. For each of its rules, a test breaks the rule and expects a failure.',
  },

  // Delivery.
  'delivery:once': {
    behaviour:
      'If your program owns the transcript, each delivered notification is in exactly one record of the log, and never in a second message.',
  },
  'delivery:everything-due': {
    behaviour:
      'Every due notification is delivered once, in the next carrier that has room. Beyond the budget, a summary counts info and warnings instead.',
  },
  'delivery:nothing': { behaviour: 'If no notification is open, Earpiece does not change the message to the model.' },
  'delivery:whole': { behaviour: 'The record of a carrier holds the complete notification and the text that was sent.' },
  'delivery:carriers': { behaviour: 'User messages, tool results and failing tool results can carry notifications.' },
  'delivery:other-process': {
    behaviour: 'When `queue` has resolved in one process, the next offer of every other process can include the notification.',
  },
  'delivery:thousand-calls': {
    behaviour:
      'In 1,000 calls, 8 at a time, through two gateways of one conversation, each notification is delivered exactly once.',
  },
  'delivery:two-carriers': { behaviour: 'Two carriers of one conversation never hold the same notification at the same time.' },
  'lease:repeated': {
    behaviour:
      'If a process is killed between the offer and the confirmation, the notification is offered again with the same id and text, marked as repeated.',
  },
  'lease:released': { behaviour: 'A cancelled request or a failed write releases its offer.' },
  'lease:answered': {
    behaviour:
      'If a client cancels a request more than 250 ms after its answer, the gateway ignores the cancel: nothing is repeated, and get_notifications lowers the gate. From opencode, the gateway ignores every cancel after the answer.',
  },
  'lease:dead-owner': {
    behaviour: 'The lease of a process that died on this machine ends at once. Any other lease ends after its time limit.',
  },
  'lease:late-confirm': { behaviour: 'A late confirmation is recorded as late and does not close a notification a second time.' },
  'lease:withdrawn': {
    behaviour:
      'A notification that is withdrawn or expires after an offer is not offered again, and its receipt is maybe_seen. The rest of its line is offered again, marked as repeated.',
  },
  'delivery:verdict': {
    behaviour:
      'The output of earpiece why begins with one sentence. This sentence is true for the current agents, and its advice works.',
  },
  'delivery:receipts': { behaviour: 'The function why(id) returns the receipt and the reason of each decision.' },
  'delivery:in-turn-reply': { behaviour: "A person's reply inside a turn can carry notifications." },
  'delivery:batch': {
    behaviour: 'In the agent of Earpiece, a batch of tool calls carries notifications once, with its last response.',
  },
  'delivery:idle': {
    behaviour: 'When a notification wakes the idle agent of Earpiece, one request carries all waiting notifications.',
  },
  'force:between-turns': {
    behaviour: 'A critical notification between turns starts a request of the agent of Earpiece to its model.',
  },
  'force:mid-stream': {
    behaviour:
      'A critical notification aborts the stream of the model in the agent of Earpiece. Finished parts are kept, and the aborted request is not retried.',
  },
  'force:during-tools': {
    behaviour: 'A critical notification that arrives while tools of the agent of Earpiece run is delivered with their responses.',
  },
  'force:no-loops': {
    behaviour: "Each notification wakes an agent at most once. An agent's own actions never wake that agent.",
  },

  // The agent of Earpiece, over the wire of each API.
  'agent:wire': { behaviour: "Every request of the agent of Earpiece follows the rules of its provider's API." },
  'agent:aborts': {
    behaviour:
      'After an abort, the agent of Earpiece keeps exactly the parts of the answer that the API accepts in the next request.',
  },
  'agent:prefix': {
    behaviour:
      'The messages of a request of the agent of Earpiece stay the same in later requests, byte for byte. Only a compaction and a left-out notification change these messages.',
  },
  'agent:refusals': {
    behaviour:
      'If the provider refuses a request, no notification is lost. The next successful request has each notification once, unless the provider accepts the request only without it.',
  },
  'agent:cache': {
    behaviour: "With Anthropic, each request of a conversation finds the complete previous request in the provider's cache.",
  },
  'agent:keys': {
    behaviour:
      "Provider keys and Earpiece tokens reach neither the agent's commands nor its MCP servers, unless a person names them.",
  },
  'gate:unfiltered': {
    behaviour:
      "No mute and no setting hides a person's pause, cancel, resume or critical notification from the plan or the gate.",
  },
  'agent:no-person': {
    behaviour:
      "A command that the agent runs sends in the agent's name: never as a person, and at most at level error. The command lifts no pause.",
  },
  'agent:words': {
    behaviour:
      "The model reads the texts, events and reminders of an agent's command or access token in quotation marks, with the agent's name. Such texts share no line with other texts.",
  },
  'handles:ends-with-agent': {
    behaviour: 'If a call waits for a command, that command ends with its agent, even after kill -9.',
  },
  'agent:mcp-results': {
    behaviour:
      'A long result of an MCP tool is cut in the middle and kept in a file. Structured content reaches the model, and images are kept in files.',
  },
  'agent:endings': {
    behaviour:
      'A truncated, refused or broken answer is reported as such to people, scripts and library users. Truncated calls do not repeat without end.',
  },
  'agent:stop': {
    behaviour: 'A stop ends the turn, even before the turn begins or right after another interruption.',
  },
  'agent:one-writer': {
    behaviour:
      'One process writes a conversation. If its machine dies, another machine takes over after 20 s, and the first process writes nothing more.',
  },
  'agent:kill-9': {
    behaviour:
      'After the agent of Earpiece is killed at any point and resumed, each notification is in the transcript once and each call has its answer. Each request extends the previous request.',
  },

  // Agents of the AI SDK.
  'ai-sdk:once': {
    behaviour:
      'In an agent of AI SDK 6 or 7, each notification is in one message of the transcript. Beyond the budget, a message only counts infos and warnings. A batch of parallel calls carries notifications once, and failing tools carry notifications too.',
  },
  'ai-sdk:pulls': {
    behaviour:
      'With `pulls`, an AI SDK agent has the tool get_notifications, and reads each notification that a message only counted. No interrupt refuses this tool.',
  },
  'ai-sdk:prefix': {
    behaviour:
      'With the adapter for AI SDK 6 and 7, each request begins with the bytes of the previous request, and tool output is unchanged.',
  },
  'ai-sdk:interrupt': {
    behaviour:
      'A critical notification cuts off the answer of an AI SDK agent. The same turn continues with the finished steps, the partial text and the notification.',
  },
  'ai-sdk:gate': {
    behaviour: 'While an interrupt is unread, the tools of an AI SDK agent are refused. The tools run again in the next step.',
  },
  'ai-sdk:receipts': {
    behaviour:
      'With `keep`, a notification in an AI SDK agent counts as delivered when your program has saved the message that contains the notification. If the process is killed before that, the notification is delivered again.',
  },

  // The plan.
  'plan:decides-all': { behaviour: 'The plan decides about each open notification exactly once, with a reason.' },
  'plan:order': {
    behaviour: 'Notifications are delivered in the order critical, error, warning, info, and oldest first within a level.',
  },
  'plan:rendered': {
    behaviour:
      'The token budget counts the rendered text of templates. A line of several notifications that is too long is split, not cut.',
  },
  'plan:budget': {
    behaviour:
      'The budget never summarizes an error or a critical notification. The line for summarized notifications gives their number and the way to read them.',
  },
  'plan:pure': { behaviour: 'The same input gives the same plan and the same view.' },
  'plan:filter-source': {
    behaviour:
      'Notifications of a switched-off source are not delivered, except actions and critical notifications of a person, a core kind or a core subscriber.',
  },
  'plan:filter-name': {
    behaviour:
      'Notifications of a switched-off kind are not delivered, except actions and critical notifications of a person, a core kind or a core subscriber. If a kind has the name enable, only the flat form "source.name" can switch this kind.',
  },
  'plan:filter-tool': { behaviour: "If a tool's notifications are switched off, the setting affects only that tool." },
  'plan:master-switch': {
    behaviour:
      'If the master switch is off, only actions and critical notifications of a person, a core kind or a core subscriber are delivered. By default the master switch is on.',
  },
  'plan:filtered-recorded': { behaviour: 'A filtered notification stays in the log, and earpiece requeue queues it again.' },
  'plan:relevance': { behaviour: 'Expired, withdrawn and already known notifications are not delivered.' },
  'plan:supersede': {
    behaviour:
      'If several states of one key are due, only the newest is delivered. A newer state replaces a state that waits for a time or a number of turns at once. Any other state is replaced when the newer state is due. If the newer state ends before its delivery, that other state is delivered. Only the same person or agent replaces the notification of a person or of an agent.',
  },
  'plan:moment': {
    behaviour:
      'A notification waits for its time, its number of turns, its contact point or its tool. The wait for a contact point or a tool is limited by `max_defer`.',
  },
  'plan:coalesce': {
    behaviour:
      'Notifications with one key, or of one kind within the window of their source, become one line with the count and the differences.',
  },
  'plan:critical': { behaviour: 'A critical notification waits for no moment and is never summarized.' },
  'queue:fold': {
    behaviour:
      'A notification is added to the count of an open notification with the same key that was never offered. The two notifications may differ only in id, time, message and data. Interrupts, actions and notifications with `supersede` are not counted in this way.',
  },
  'queue:counted-told': {
    behaviour:
      'A notification may be added to the count of another notification while a carrier is composed. That carrier or the next carrier has the new count. A busy producer delays no carrier.',
  },
  'queue:max-open': {
    behaviour:
      'Above `max_open`, the oldest notifications of the lowest level are dropped. Actions and critical notifications of a person, a core kind or a core subscriber are not dropped. One summary has their number and kinds.',
  },
  'queue:mute': {
    behaviour:
      'Until a mute ends, notifications of its kind are filtered, except actions and critical notifications of a person, a core kind or a core subscriber.',
  },
  'queue:expiry': {
    behaviour:
      'A notification that was queued without an expiry time expires after the time that is set for its level. By default, critical notifications do not expire. The time counts from the delivery time, if the notification waits for one. Earpiece refuses a notification that would expire before its delivery time.',
  },
  'queue:redact': {
    behaviour: 'Earpiece does not store text that a redact pattern matches in a message, instruction, data or withheld result.',
  },
  'queue:patterns': {
    behaviour:
      'Each redact pattern runs in linear time. A process that starts while a pattern is invalid redacts whole texts. A running process keeps its earlier patterns.',
  },
  'queue:handles': {
    behaviour: 'If the agent learns a change of a handle by polling or awaiting the handle, no notification reports this change.',
  },
  'queue:many': { behaviour: 'A hundred different errors at once are all queued, without waiting for a timer (SC-004).' },

  // Views.
  'view:markdown': { behaviour: 'The Markdown view groups lines by level, with its preamble and rules.' },
  'view:xml': { behaviour: 'The XML views have one element for each notification, or one batch element with the count.' },
  'view:toon': { behaviour: 'The TOON view shows several notifications as a table, and one notification as a line.' },
  'view:json': { behaviour: 'A parser that reads the JSON view gets the queued notifications.' },
  'view:data': {
    behaviour: "A sender's data follows the message as JSON. If the data is too long, the line says where to read the data.",
  },
  'view:budget': {
    behaviour:
      'A notification that is too long for its carrier is cut. The text says that it was cut, and the agent can read the whole notification.',
  },
  'view:signal': { behaviour: 'The signal views have fixed texts in English and Japanese, byte for byte.' },
  'view:hostile': {
    behaviour: 'No message text can imitate a notification or the quoted words of a person, break a view, or flood it.',
  },
  'cli:imitation': {
    behaviour:
      'In the lists and the chat of the command line, a bar (│) separates the text of a notification from the words of Earpiece. No text can imitate a sender, a state or a line, and each notification shows its sender: a person, an agent, or unnamed.',
  },
  'view:look-alikes': {
    behaviour: 'A message text that imitates a frame with look-alike letters, slashes, brackets or spaces is escaped too.',
  },
  'mark:instructions': {
    behaviour:
      "Every gateway of an agent names the mark in its instructions, after the server's own instructions and before the first frame.",
  },
  'mark:frame': {
    behaviour: 'If a client shows no instructions, the first frame explains the mark, and so does the first frame after /clear.',
  },
  'mark:stable': {
    behaviour: 'An agent keeps its mark until earpiece trust --new-mark. Texts that were already sent keep the old mark.',
  },
  'view:stable': {
    behaviour:
      'A sent line is stored and never rendered again, unless a part of the line has closed. The rest of the line is then rendered again.',
  },
  'view:tokens': { behaviour: 'The default view stays within its token limits for the corpus in the repository.' },
  'view:templates': { behaviour: 'If a template fails, a plain view replaces its text, and no notification is lost.' },

  // The gate.
  'gate:no-id': {
    behaviour: 'A tools/call without an id does not pass a raised gate. With several servers, such a call is never passed on.',
  },
  'gate:refuses': {
    behaviour:
      'After an interrupt, 8 of 8 calls are refused and none reaches the upstream server, unless the setting is interrupt = "after".',
  },
  'gate:one-text': {
    behaviour:
      'All calls that are refused for the same interrupts get the same id and text: the first answer is the delivery, the other answers are repeats.',
  },
  'gate:lowered': {
    behaviour:
      'get_notifications lowers the gate of an interrupt that is not a pause. A resume lowers the gate of a pause. Withdrawal and expiry lower the gate of any interrupt.',
  },
  'gate:batch': {
    behaviour: 'All calls of a serial batch are refused: the gate stays up for at least a second after the last refusal.',
  },
  'gate:read-before': {
    behaviour:
      'A critical notification or a cancel that the agent read with a prompt, or at the end of a batch, refuses no call. In Codex, a call that begins 1 s after a result with the interrupt is not refused either. The transcript of the agent is the proof.',
  },
  'gate:asked-again': {
    behaviour:
      'Without get_notifications, the gate of a critical notification or a cancel goes down at a call that begins a second after the last refusal.',
  },
  'gate:unproven': {
    behaviour:
      'If a host does not send the expected proof, the gate of a critical notification or a cancel goes down at a call that begins a minute after the first refusal.',
  },
  'gate:model-asked': {
    behaviour:
      'The gate of a critical notification or a cancel goes down when the host shows that it sent the refusal to its model.',
  },
  'gate:read-unasked': {
    behaviour:
      'If the agent has read a critical notification or a cancel with get_notifications, Earpiece refuses no call because of it.',
  },
  'gate:pause': {
    behaviour:
      'A pause holds until a person resumes the agent or withdraws the pause, or until the pause expires. The refusal says who can lift the pause, and how.',
  },
  'gate:expired': {
    behaviour:
      'The commands why, inbox and agents, the API and the console show an expired interrupt as expired and its gate as down. The refusal for a pause says when the pause ends.',
  },
  'gate:superseded': {
    behaviour:
      'An interrupt with `supersede` holds no gate up if a newer state of its key is due and replaces the interrupt before its delivery. A delivered interrupt holds its gate up until the agent has read the interrupt.',
  },
  'gate:withdrawn': {
    behaviour: 'The withdrawal of a delivered interrupt lowers its gate. The command says so and exits with 0.',
  },
  'gate:resume': {
    behaviour:
      'earpiece resume lifts pauses, names them, and wakes the agent. If there is no pause, the command says so. An agent that never saw the pause reads only the `--message`, if the person gave one.',
  },
  'gate:before': { behaviour: 'A call that is already running returns its result and the interrupt.' },
  'gate:after': { behaviour: 'With interrupt = "after", a running call takes effect once, and its result is readable later.' },
  'gate:purpose': {
    behaviour: 'An action goes once to each active conversation of its address, except conversations with another purpose.',
  },
  'gate:own-tools': { behaviour: 'The gate never refuses the tools of Earpiece.' },

  // The address of a conversation.
  'address:agent': {
    behaviour:
      'A notification without an action for project/agent goes to the first conversation of the agent that can deliver the notification. A notification for a conversation goes only to that conversation.',
  },
  'address:fan-out': {
    behaviour:
      'project/* reaches each active conversation once and no ended conversation, even if the process crashes while it writes the copies.',
  },
  'address:nobody': {
    behaviour:
      'If no agent of the project is active, an interrupt for project/* is kept, but any other notification is refused. The error says what to do.',
  },
  'address:windows': { behaviour: 'Two windows of one agent are two conversations.' },
  'address:clear': { behaviour: 'After /clear, the new session of the same process gets the open notifications.' },
  'address:order': {
    behaviour:
      "A flag names the conversation, else the binding of the host process, else the host's session variable, else the process. The default is one #main for each agent.",
  },
  'address:standing': {
    behaviour: 'An interrupt to project/* also reaches conversations that begin while it is open, once for each conversation.',
  },
  'presence:active': {
    behaviour:
      'For every command and the server, a conversation is inactive as soon as it ends or its process on this machine dies.',
  },
  'presence:health-check': { behaviour: 'A closed connection that called no tool does not count as a conversation.' },
  'succession:heir': {
    behaviour:
      "Unread notifications of an ended conversation go to the agent's next conversation with the same worktree and purpose, once.",
  },
  'succession:gate': {
    behaviour: 'A raised gate stays up for the heir, so an agent cannot lower it with a new or a resumed session.',
  },
  'succession:merge': {
    behaviour: 'The conversations of one host process become one conversation, which gets their offers, gate and reads.',
  },
  'succession:told-once': {
    behaviour:
      'If a conversation got its copy of a broadcast, unread copies of other ended conversations do not move to the heir.',
  },
  'succession:told': {
    behaviour:
      'The command agents shows which conversation continues an ended one. The command why shows both conversations of a moved notification, and the reason.',
  },
  'address:tokens': {
    behaviour:
      'Without the session token of another conversation, a connection reads and reports only for its own conversation. An address is not a session token. earpiece why names the reader.',
  },
  'address:other-agent': { behaviour: 'A carrier does not deliver a notification for another agent.' },

  // The gateway.
  'gateway:identical': {
    behaviour: 'If nothing is open, every tool of two real servers answers byte for byte as without the gateway.',
  },
  'gateway:forged-answers': {
    behaviour:
      "The gateway passes a server's answer once, to a request that this server got. The gateway drops any other answer, and reports the first drop on stderr.",
  },
  'gateway:tools-list': { behaviour: 'A golden file holds the changes of each profile to tools/list.' },
  'gateway:oddities': { behaviour: 'Unusual JSON passes unchanged: 1.0, 2^53+1, duplicate keys, \\u0041, 1e400.' },
  'gateway:conformance': { behaviour: 'The MCP conformance suite gives the same verdicts directly and through the gateway.' },
  'gateway:stateless': { behaviour: 'The stateless protocol gives the same answers directly and through the gateway.' },
  'gateway:inspector': { behaviour: 'The command line of the MCP inspector can list and call tools through the gateway.' },
  'gateway:profiles': { behaviour: 'The profiles blocks, extend and strip change only the documented parts of a result.' },
  'gateway:pull-room': {
    behaviour:
      'get_notifications never returns more than its client shows. The remaining notifications stay open, and the answer says how many wait.',
  },
  'gateway:max-result': {
    behaviour: 'If a result with its view is too big, the result carries no notification, and the offer is released.',
  },
  'gateway:restart': { behaviour: 'The gateway restarts a crashed server. Open calls get an answer, and the next call works.' },
  'gateway:partial-frame': {
    behaviour: 'If a server dies in the middle of a frame, the client gets no part of that frame, but a separate error frame.',
  },
  'gateway:mcp-events': {
    behaviour:
      'If a server disconnects, mcp.disconnected is queued. When the server is back, mcp.reconnected withdraws that notification.',
  },
  'gateway:end-of-input': {
    behaviour: 'Requests that a client of a stdio gateway wrote before it closed stdin get their answers.',
  },
  'gateway:no-orphans': { behaviour: 'The gateway ends with its client and leaves no process running.' },
  'gateway:store-trouble': {
    behaviour:
      'If the store does not answer within 250 ms, the call passes unchanged, unless the gate is known to be up. One line on stderr reports the trouble.',
  },
  'gateway:order': {
    behaviour:
      'After a gateway has sent a newer state of a key, its tool results and get_notifications show no older state. A text that replaces a result (`interrupt = "after"`) is an exception. A call of get_notifications does not wait for the text of a parallel call.',
  },
  'gateway:late-text': {
    behaviour:
      'A notification whose text is too late for its result comes with the next result of the same client. If two texts in a row are late, a later result carries the second text within half of its lease.',
  },
  'gateway:late-checked': {
    behaviour:
      'A late text shows no notification that has ended, or that a newer state replaces. A notification in a text that was too late counts as not sent.',
  },
  'gateway:fronts-many': {
    behaviour:
      'The gateway serves all servers of a configuration. Tool names have the prefix of their server, and two servers with the same name are an error.',
  },
  'gateway:reach': {
    behaviour: "If an agent has only a gateway, doctor names the agent's tools that cannot carry notifications.",
  },
  'gateway:streams': {
    behaviour: 'A listen request or an event stream stays open when its server restarts, and continues from its last cursor.',
  },
  'gateway:starts-apart': {
    behaviour:
      'A slow, hanging or broken server delays and hides no other server. The gateway lists ready servers, and adds the others with list_changed.',
  },
  'gateway:starts-early': {
    behaviour:
      "A wrapped server starts before the gateway's own code is loaded. If the gateway refuses its command line, the server ends.",
  },
  'gateway:late-instructions': {
    behaviour:
      "If a server starts after the handshake, its instructions reach the agent as one notification, in the server's words.",
  },
  'gateway:lists-once': {
    behaviour:
      "A client that reads its tool list once (Codex, Qwen Code, pi's MCP extension) gets the list when all servers have started or failed, or after 12 s.",
  },
  'gateway:broken-server': {
    behaviour:
      'If a server does not start, the agent gets one notification with exit code and stderr. The notification is withdrawn when the server works. The doctor names the server.',
  },
  'gateway:left-out': {
    behaviour:
      'A server with an unset variable is reported like a failing server. The other servers keep working, and their tool names do not change.',
  },
  'gateway:unstartable': {
    behaviour:
      'A server that the system refuses to start (a NUL character, too long arguments) is named in one line. The other servers answer.',
  },
  'gateway:after-names': {
    behaviour: "after:<tool> accepts the name that the client lists, server:tool, and the server's own name for the tool.",
  },
  'gateway:stopping': {
    behaviour: 'When the gateway stops, each open HTTP call gets an answer that says that the gateway stopped.',
  },
  'gateway:http': {
    behaviour:
      'By default, streamable HTTP listens on 127.0.0.1. The gateway checks Origin, Host and the bearer token, if one is set.',
  },
  'gateway:print': {
    behaviour:
      'For each client, --print writes a line that installs the gateway with all options and the database, and a line that removes the gateway.',
  },
  'gateway:names': { behaviour: 'A server without a name gets the name of its package, image, module, script or host.' },
  'gateway:fuzz': { behaviour: 'The framing never crashes or hangs, even if the bytes are split or damaged anywhere.' },

  // The pull model.
  'pull:newest-first': {
    behaviour: 'get_notifications returns notifications of its project, agent and conversation, newest first.',
  },
  'pull:read-once': {
    behaviour:
      'get_notifications marks the returned notifications as read, so only a pause is returned again. With mark_as_read = false, all notifications stay unread.',
  },
  'pull:repeated': {
    behaviour:
      'If a frame with a notification may have arrived, or another carrier holds the notification, get_notifications marks it as repeated.',
  },
  'pull:due': { behaviour: 'get_notifications does not return a notification before its time, such as the time of a reminder.' },
  'pull:rest': {
    behaviour:
      'get_notifications also returns withheld results and summarized notifications. A summarized notification that has expired, was withdrawn or has a newer state is omitted.',
  },
  'pull:fields': {
    behaviour: 'The results of get_notifications have the fields id, type, action, message, instruction, created_at and task_id.',
  },
  'pull:signal': {
    behaviour: 'In signal mode, every result has the notification field. The field repeats a notification until it is read.',
  },
  'pull:name': {
    behaviour: "If the upstream has a tool named get_notifications, Earpiece's tool is called earpiece_get_notifications.",
  },
  'pull:report-completed': {
    behaviour: 'If a person has blocked the task, report_completed(blocked) still succeeds and ends the execution.',
  },

  // Real clients.
  'hosts:install': {
    behaviour:
      "An installation changes only Earpiece's entries in an agent's settings and asks first. If it cannot change a setting, it gives the reason.",
  },
  'hosts:secrets': {
    behaviour: 'The plans of earpiece install and uninstall show no value of a setting whose name suggests a secret.',
  },
  'hosts:uninstall': {
    behaviour:
      "earpiece uninstall restores the bytes from before the installation. If a file has changed since, the command removes only Earpiece's entries.",
  },
  'hosts:installed': {
    behaviour:
      'After earpiece install, the real agent reads a notification with its built-in tools, and the doctor finds no fault.',
  },
  'hosts:wrap': {
    behaviour:
      "earpiece install --wrap puts one gateway before the servers of an agent. Environment values stay in the agent's settings, and uninstall restores the bytes.",
  },
  'hosts:status-line': {
    behaviour:
      "The status line of Claude Code shows the number of open notifications after the user's own line. If nothing is open, the status line adds nothing.",
  },
  'hosts:doctor': {
    behaviour:
      'The doctor sends a test notification through each installed hook. If a hook fails, the doctor names the cause and says what to do.',
  },
  'hosts:lasting': {
    behaviour:
      'Hooks keep working after a change of the Node version, a cleaned npx cache and an upgrade in place. If a hook cannot work, one line says so, and the doctor says what to do.',
  },
  'hosts:cloned': {
    behaviour:
      "If a cloned repository has an earpiece in its node_modules and a registry in its .npmrc, npx still runs the user's Earpiece.",
  },
  'hosts:claude-plugin': {
    behaviour:
      'The Claude Code plugin carries notifications in the same places as the hooks of earpiece install. If both are installed, each notification arrives once, and the doctor names the second copy.',
  },
  'hosts:claude-code': { behaviour: "Claude Code's raw request contains the notification once, at the right tool result." },
  'hosts:codex': { behaviour: "Codex's raw request contains the notification once, at the right tool result." },
  'hosts:sessions': {
    behaviour:
      'In long sessions of six real agents, each notification is read once or marked as repeated. This also holds after a kill of the gateway or of the agent.',
  },
  'hosts:gate': {
    behaviour:
      'For six real agents, a batch of writing calls is refused as a whole. An agent that never calls get_notifications continues afterwards, and a pause holds until a person lifts it.',
  },
  'hosts:hold': {
    behaviour: 'An open error prevents the end of a Claude Code turn, at most three times in a row.',
  },
  'hosts:hook-trouble': {
    behaviour:
      'A failing hook never stops its agent. The hook prints one line on stderr and exits with 0, even with a missing folder, a wrong command line or endless input.',
  },
  'gateway:gone-folder': {
    behaviour:
      'If the working folder is deleted, a running gateway and earpiece mcp still work, and name the folder that they use instead.',
  },
  'hosts:distinct-sessions': {
    behaviour:
      'Two session ids of a host are two conversations, even if the ids contain characters that an address does not allow.',
  },
  'hosts:lean': {
    behaviour:
      'If nothing is open, a hook call loads twelve small files and prints nothing. A hook call records the last contact at most every 30 s.',
  },
  'hosts:served': {
    behaviour:
      'The running earpiece mcp answers at the end of each batch of Claude Code. While that server is missing or dead, the hook before a tool carries notifications.',
  },
  'hosts:quiet-mark': {
    behaviour:
      'While nothing waits for a session, the shell of the hook before a tool exits without starting Earpiece. Any change of the database starts Earpiece again, even if the file gets an older time.',
  },
  'hosts:evidence': {
    behaviour:
      'Earpiece searches the transcripts of Claude Code, Codex and Qwen Code for delivered notifications, and records each found notification as observed.',
  },
  'hosts:lost': {
    behaviour:
      'A hook may die before it confirms, or an agent before it sends a request to its model. Then the printed notification is offered again, marked as repeated.',
  },
  'hosts:wake-claude': {
    behaviour:
      'Each notification that may wake an idle Claude Code wakes it once. A working Claude Code is not woken. Each Claude Code process has one waiter, which ends with the process and wakes no other session.',
  },
  'hosts:clear': {
    behaviour: 'After /clear in a real terminal, the new context contains the mark, and open notifications arrive once.',
  },
  'hosts:plugins': {
    behaviour:
      'With the plugin, opencode and pi read each notification once, with built-in and wrapped tools. A pause stops the next call of any tool.',
  },
  'hosts:wake': {
    behaviour:
      'Each notification that the policy allows wakes an idle opencode or pi once. A critical notification ends the streaming request.',
  },
  'hosts:bridge': {
    behaviour:
      'If a bridge is killed, hangs or is missing, the agent continues and one line reports the problem. Another bridge starts, nothing is lost, and every repeat is marked.',
  },
  'hosts:hooks': {
    behaviour:
      'A real agent with hooks and only built-in tools reads each notification once, at the documented place. Earlier messages do not change.',
  },
  'hosts:one-conversation': {
    behaviour:
      'Hooks and a wrapped MCP server of one session carry notifications for one conversation, so each notification is read once.',
  },
  'hosts:hook-gate': {
    behaviour:
      'A pause denies the next call of a built-in tool and holds until a person lifts the pause. The gate of a critical notification goes down when the agent has read the notification.',
  },
  'hosts:slow-batch': {
    behaviour:
      'In Claude Code, Gemini CLI and Qwen Code, an interrupt refuses the whole batch, regardless of the time between its calls.',
  },
  'hosts:lost-refusal': {
    behaviour:
      'Claude Code, Codex, Gemini CLI or Qwen Code may drop a refusal and run the call. Then the result of that call carries the interrupt again, marked as repeated.',
  },
  'hosts:late-hook': {
    behaviour:
      'If a hook ends near or after the time limit of its agent, its notifications do not count as delivered. They are offered again, marked as repeated.',
  },
  'hosts:acp': {
    behaviour:
      'In an editor (ACP), the model of Qwen Code reads each notification once, with the next prompt or at the end of a turn. An interrupt stops the next call.',
  },
  'hosts:wake-codex': {
    behaviour:
      "Each notification that the policy allows wakes an idle Codex terminal once, through Codex's own queue. One process waits for each terminal.",
  },
  'hosts:codex-shared': {
    behaviour:
      'A Codex terminal whose session runs in the server that all terminals share is one conversation. Its agent reads each notification once and is woken when idle. After the terminal has closed, the conversation is not active.',
  },
  'hosts:codex-sessions': {
    behaviour:
      'The hooks and the MCP servers of a Codex session are one conversation, also if one process runs several sessions. Each session gets only its own notifications, and a notification to the whole project once. A sub-agent gets no notification.',
  },
  'hosts:hook-resume': {
    behaviour: 'If an agent with hooks is killed, its resumed session reads the open notifications once.',
  },
  'hosts:shapes': { behaviour: 'A tool with outputSchema, a failing tool and a 60 kB result also carry the notification once.' },

  // Configuration and command line.
  'config:forms': {
    behaviour:
      'A filter has the same meaning with a quoted kind ("mcp.reconnected") and in the table of its source. A tool\'s settings have the same meaning in its own table and in its table `spawn`.',
  },
  'config:unknown-key': { behaviour: 'An unknown key is an error with line, column and "did you mean".' },
  'config:explain': { behaviour: 'earpiece config explain names the source of each value.' },
  'config:live': {
    behaviour:
      'A changed policy in a file takes effect at the next contact point. If the changed file is broken, the earlier policy stays in effect and the error is reported once.',
  },
  'config:trust': { behaviour: 'Parts of a cloned repository that run commands or open connections wait for trust.' },
  // Settings that a person changes, and the file that keeps them.
  'config:set': {
    behaviour: 'A changed setting keeps its spelling in the file. Comments, order and layout of the file stay byte for byte.',
  },
  'config:set-refused': {
    behaviour:
      'An unknown setting, an invalid value and a broken file are refused. The error names the place, and nothing changes.',
  },
  'config:set-safe': {
    behaviour:
      'A change is written completely or not at all. The change follows links, keeps the file mode, and preserves changes of other programs.',
  },
  'cli:private': {
    behaviour:
      'Only the owner can read the cache folder, the state folder, the database and the tokens, regardless of the umask.',
  },
  'cli:odd-files': {
    behaviour:
      'If an input file is a device, a pipe, a folder or too large, the command reports an error. The file is not loaded into memory.',
  },
  'cli:large': {
    behaviour:
      'The command line works on logs of any length: inbox prints pages, db check and doctor show progress, db prune returns disk space.',
  },
  'cli:send-wait': {
    behaviour: 'The exit code of `earpiece send --wait delivered` says whether the notification was delivered.',
  },
  'cli:forget': {
    behaviour:
      'earpiece forget erases everything that the database keeps of one agent, down to the bytes, also in the -wal. The command names the data that stays, and the files that still show the erased texts.',
  },
  'cli:purge': {
    behaviour:
      'earpiece uninstall --purge lists the files that it removes and asks once. Afterwards nothing of Earpiece is in the home folder except files of projects and archives.',
  },
  'cli:commands': { behaviour: 'Each command does what its help says, also with --json.' },
  'cli:inbox': {
    behaviour:
      'For a person, earpiece inbox lists the waiting notifications in the text of their subscribers, without superseded states.',
  },
  'cli:completion': { behaviour: 'In bash, zsh and fish, Tab completes commands, options and their values.' },
  'cli:exit-codes': { behaviour: 'Each command exits with the documented code.' },
  'cli:reader-gone': {
    behaviour:
      "If the reader of a command's output closes the pipe, the command ends silently, with the same exit code as with an open pipe.",
  },
  'cli:bad-input': { behaviour: 'Bad input gets one exact message that says what to do, never a stack trace.' },

  // The agent of Earpiece, led by people and scripts.
  'chat:pending': {
    behaviour: 'The screen shows an open notification as open until it is delivered, and then at its place in the conversation.',
  },
  'chat:interrupt': {
    behaviour: 'Ctrl+C in a turn offers to stop, reply or continue. A second Ctrl+C stops the turn, and a third Ctrl+C quits.',
  },
  'chat:safe': { behaviour: 'No text of a model, a tool or a notification controls the terminal.' },
  'chat:fork': { behaviour: 'A fork has the history of another conversation, and its requests begin with the same bytes.' },
  'chat:resume': {
    behaviour: 'After kill -9, a conversation continues its turn, and its requests begin with the same bytes as before.',
  },
  'chat:scripts': {
    behaviour:
      'Without a terminal, each input line is a message. With --json, events are printed as JSON, and messages may be JSON too.',
  },
  'chat:ends': { behaviour: 'A signal that ends the agent of Earpiece also ends every process that the agent has started.' },
  'chat:sub-agents': { behaviour: "An agent and its sub-agents do not get each other's notifications." },
  'run:exit-codes': { behaviour: 'earpiece run exits with a code for the result of its turn, such as 0, 1, 3, 9, 10 or 130.' },

  // Subscriber files.
  'bus:discovery': {
    behaviour: 'A new subscriber file is loaded, an invalid file is skipped with one line, and a removed file has no effect.',
  },
  'bus:checked': {
    behaviour: 'The error for a mistake in a subscriber file names line and column, and says what to do. A correct file loads.',
  },
  'bus:shipped': { behaviour: 'The shipped subscribers load without a problem and render events with any content.' },
  'bus:locked': { behaviour: 'A core subscriber cannot be disabled, and the refusal says why.' },

  'bus:disabled': {
    behaviour: 'A disabled subscriber queues nothing from the next event on.',
  },
  'bus:window': {
    behaviour:
      'Open notifications of one subscriber at one level become one line with all details, if the subscriber has a window.',
  },
  'bus:order': {
    behaviour: 'Events and withdrawals of one key are written to a log in the order of their arrival.',
  },
  'bus:counts': {
    behaviour: 'Repetitions are counted and never dropped. Up to 51 different details of a notification are kept.',
  },
  'bus:scoped': { behaviour: 'An event reaches only its subject.' },
  'bus:moments': {
    behaviour:
      "A subscriber's notification is delivered at its moment: at once, in the next cycle, after a tool, or at the end of a cycle.",
  },
  'bus:withdraws': { behaviour: 'When a state ends, its open notifications are withdrawn.' },
  'bus:storms': { behaviour: 'A burst of events becomes one line that counts all of them.' },
  'bus:storms-taken-back': { behaviour: "When an event of a burst is resolved, the burst's count goes down." },
  'bus:repeats': {
    behaviour:
      'A repetition within the dedupe window is delivered when the window ends, even if another process emits the repetition.',
  },
  'bus:own-defects': {
    behaviour:
      'When the bus closes, it writes all waiting events. Different failures of one tool are all delivered, and a failing template loses no notification.',
  },

  // Templates of subscribers.
  'bus:templates-safe': {
    behaviour:
      'A template that loops, grows, recurses or accesses anything outside its context is stopped within 250 ms. The next template renders, and nothing is blocked.',
  },
  'bus:toon-filter': { behaviour: 'The official TOON decoder restores the values that the filter toon_encode encodes.' },

  // Sources: files and repositories.
  'sources:files': {
    behaviour:
      'The agent gets a notification when another program changes a file that the agent has read. If the file gets its earlier content again, the notification is withdrawn.',
  },
  'sources:git': {
    behaviour:
      "Switched branches, a moved upstream and conflicts of a repository are reported, except after the agent's own commands.",
  },

  // The web console, in a real browser.
  'console:history': {
    behaviour: 'The console shows open and delivered notifications. No action starts when a person opens the console.',
  },
  'console:login': {
    behaviour: 'The URL that the server prints logs one browser in, once, and no code stays in the URL of the browser.',
  },
  'console:agents': {
    behaviour:
      'The page Agents shows the active agents, the work of each agent and its open notifications by level. Each change appears at once.',
  },
  'console:needs': {
    behaviour:
      'The list of agents begins with the agents that need a person. The row of a held agent shows the interrupt, its sender and its time.',
  },
  'console:foretells': {
    behaviour:
      'The button Test shows what would happen to a real notification for an agent now, by the rules of delivery, and sends nothing.',
  },
  'console:moves': {
    behaviour:
      'An open notification is shown dashed at the end of the conversation. On delivery, the notification moves to its carrier. With reduced motion, the notification appears at the carrier at once.',
  },
  'console:why': {
    behaviour: 'The panel Why shows the rule, the plan, the carrier, the receipts and the exact text, ready to copy.',
  },
  'console:person': {
    behaviour: "A person's message, pause, resume and stop are shown as pending, with their effect, until they are in the log.",
  },
  'console:subscribers': {
    behaviour:
      'Three clicks switch a subscriber off, from the next event on. A core subscriber is locked, and the page gives the reason.',
  },
  'console:settings': {
    behaviour:
      "The page changes a setting in a person's own file. The page names the source that decides, and says when the change takes effect.",
  },
  'console:verdict': { behaviour: 'The panel Why begins with one sentence, and its advice is a button that works.' },
  'console:places': {
    behaviour: 'With 60 agents, the navigation and the filter of the agents stay in view, at 1280 and at 390 pixels.',
  },
  'console:mute': {
    behaviour:
      'A card can mute its kind for an hour, for the rest of the day or for ever. The page lists the mutes, and a person can lift each mute there.',
  },
  'console:toon': {
    behaviour:
      'A card shows the text that the model read. Only a text that is one TOON table is shown as a table; every other text is shown unchanged.',
  },
  'console:tasks': {
    behaviour: 'A click blocks or unblocks a task. The page shows which agent the click interrupts, and the result.',
  },
  'console:activity': { behaviour: 'Each point of a chart links to its notifications.' },
  'console:resumes': {
    behaviour: 'The page keeps its content through a reload and a restart of the server, and says when the page is not live.',
  },
  'console:text': { behaviour: 'The console shows everything that a producer controls as text, in every field of every page.' },
  'console:senders': {
    behaviour:
      'Each card, row and explanation in the console names the sender of a notification: a person, an agent, or an unnamed producer.',
  },
  'console:accessible': {
    behaviour: 'axe finds no serious fault on any page, in light and dark mode, at 1280 and at 390 pixels.',
  },
  'console:small': {
    behaviour: 'The console is under 150 kB gzipped, sends requests only to its own server, and has no inline scripts or styles.',
  },
  'console:keys': { behaviour: 'Every control can be reached with the keyboard, and the focus is always visible.' },
  'console:search': {
    behaviour: 'A search finds words in the whole log, including parts that are not loaded, and each hit is a link.',
  },
  'console:forks': {
    behaviour: 'The page of a conversation shows the command that forks it at any turn, and links to its origin and its forks.',
  },
  'console:long': {
    behaviour: 'A person can read the whole of a long conversation, although the page loads only a part at a time.',
  },
  'console:phone': {
    behaviour: 'On a phone, every control can be reached by touch, and no text of a producer widens the page.',
  },
  'console:hands': {
    behaviour: 'Late, repeated or reordered records do not change typed text, the focus or a selection.',
  },
  'console:teaches': { behaviour: 'An empty page says why it is empty and what to do next.' },

  // The server, its client and its tokens.
  'server:routes': { behaviour: 'Each route does what its page describes, over real HTTP and through the typed client.' },
  'server:search': {
    behaviour: 'A search covers the whole log, a bounded part at a time. Each answer says how far back the server searched.',
  },
  'server:forks': { behaviour: 'A conversation names its origin and its forks.' },
  'server:bad-input': {
    behaviour: 'Bad input gets a problem (RFC 9457) that names the field and the value, and says what to do.',
  },
  'server:idempotent': { behaviour: 'A repeated notification with the same Idempotency-Key is queued once.' },
  'server:resume': {
    behaviour: 'With 1,000 streams and a server that is killed and restarted, each stream gets every record once and in order.',
  },
  'server:stop': { behaviour: 'A graceful stop ends the streams, finishes open requests and exits with 0.' },
  'server:openapi': {
    behaviour: 'The OpenAPI document is valid and lists every route and response, and a generated client works.',
  },
  'server:settings': {
    behaviour: "Each setting names its source and how to change it. A change is written to the user's or the project's file.",
  },
  'server:settings-refused': {
    behaviour:
      'Over HTTP, only an admin can change settings. Settings that run a command, open a connection or move data cannot be changed, and an invalid value changes nothing.',
  },
  'server:settings-at-once': { behaviour: 'Concurrent changes of settings are all kept.' },
  'server:settings-live': {
    behaviour:
      'Every running process uses a changed setting of the policy at its next carrier, notification or pruning, in every project to which the setting applies.',
  },
  'server:pages': {
    behaviour:
      'A page of a list holds at most about 512 kB of JSON, or one larger record. All pages together hold every record once.',
  },
  'server:unread-streams': {
    behaviour:
      'With thousands of streams that no client reads, the server refuses streams above its limit and still answers requests. Other streams lose no record.',
  },
  'server:lifted': { behaviour: 'A resume over HTTP returns the pauses that it lifted.' },
  'config:broken-redact': {
    behaviour:
      'While a file that sets redact cannot be parsed, a process that starts redacts whole texts. A running process keeps its earlier patterns.',
  },
  'config:bounded': {
    behaviour:
      'No text of 1 MB keeps the TOML reader busy: the reader refuses long keys, deep values and too many key parts and elements.',
  },
  'config:links': {
    behaviour: 'A project configuration that links to a file outside of the project is refused, and its content is not shown.',
  },
  'store:unused': {
    behaviour: 'If prune cannot shrink a large database from before 0.1.0, the command says how to shrink the database.',
  },
  'server:many-agents': {
    behaviour: 'One indexed query reads a page of agents, even among 10,000 agents with 100 open notifications each.',
  },
  'server:cli': {
    behaviour: 'With --server, the commands print the data of a server in the same form as the data of a database.',
  },
  'server:events': {
    behaviour: 'CloudEvents and signed webhooks reach the subscribers. One invalid event rejects the whole batch.',
  },
  'server:subscribers': {
    behaviour:
      'Over HTTP, a client can list, switch and test subscribers. A request to switch off a core subscriber is refused with the reason.',
  },
  'server:test': {
    behaviour:
      'A test of a subscriber shows the text and sends nothing. With `to`, one agent gets the text, marked as a test, at level info.',
  },
  'store:closed-in': {
    behaviour: 'One index finds the notifications that closed in a period, regardless of the length of the log.',
  },
  'server:times': {
    behaviour: 'Lists, charts and searches accept a period and read only that period.',
  },
  'server:mutes': {
    behaviour: 'HTTP and the command line can mute a kind for one agent, until a time or until the mute is lifted.',
  },
  'server:activity': {
    behaviour: 'Charts count queued, delivered and open notifications. Settings and tokens show no secret.',
  },
  'server:command': {
    behaviour:
      'earpiece serve logs browsers in. Until a token exists, the server refuses to listen on a host other than loopback. Other commands do not load the server.',
  },
  'server:many-streams': {
    behaviour:
      'Thousands of streams delay no request. The server writes to the streams in groups. A client that does not read is disconnected before its waiting records fill the memory.',
  },
  'server:security': { behaviour: 'A test tries each attack in the table of docs/server.md and sees the listed result.' },
  'server:tokens': {
    behaviour:
      'A token can do only what its kind allows, at most at its level, and stops working when a person revokes the token.',
  },

  // The package.
  'package:old-node': {
    behaviour: 'On a Node that is too old, every entry point names the required version in one line and exits with 1.',
  },
  'package:subpaths': { behaviour: 'Every subpath can be imported, and required, with only the declared dependencies.' },
  'package:surface': {
    behaviour: 'A page names every export, and npm run check fails if a declaration differs from its report in api/.',
  },
  'library:misuse': {
    behaviour:
      'Each export of the package refuses a misspelt option and an unknown word, and suggests the right name. Each export also refuses data that JSON cannot hold, and a value that throws when it is read.',
  },
  'library:gate': {
    behaviour:
      'In a loop of the library, the next user message or the end of the batch marks a refused critical notification or cancel as read. A call that begins at least 1 s after the last refusal has the same effect.',
  },
  'library:rebuild': {
    behaviour:
      'A killed loop loses and repeats no notification if its next process adds the messages of transcript() that the loop had not saved.',
  },
  'library:unavailable': {
    behaviour:
      'If the database does not answer, toolResult rejects with store_unavailable, and the notifications arrive with a later message.',
  },
  'library:receipt': { behaviour: 'A program can wait until a notification is delivered, is read or has ended in another way.' },
  'package:layers': {
    behaviour:
      'Each room of the source imports only the rooms that e2e/layers/layers.ts allows. The core uses no clock, randomness or I/O.',
  },
  'package:replaced': {
    behaviour:
      'A long-lived process continues when an upgrade replaces its files. If the files are removed, the process reports the removal once, and plain text replaces texts that need a template.',
  },
  'package:first-example': { behaviour: 'The first example runs without a service or key and prints the output in the README.' },
  'package:snippets': {
    behaviour:
      'Every snippet in the README and docs is copied from a tested file, read by a test, or a list of existing commands.',
  },
  'package:start': { behaviour: 'npm start shows the first delivery in under 20 seconds, without a key, service or terminal.' },

  // Timers, processes and webhooks, and their commands.
  'sources:processes': {
    behaviour:
      '`earpiece run-and-tell` passes output and exit code through, and the agent gets a notification with the last lines of the output.',
  },
  'sources:timers': {
    behaviour: 'A reminder survives crashes and is delivered once, at the first contact point after its time.',
  },
  'sources:webhooks-live': { behaviour: 'A new, changed, removed or trusted webhook takes effect with the next request.' },
  'follow:pr': {
    behaviour:
      'A followed pull request reports failing checks with job, step and line, and reviews, comments and conflicts. Reports of solved problems are withdrawn.',
  },
  'follow:command': {
    behaviour:
      'A followed command keeps its input, output and exit code. Its errors are reported once, and withdrawn when a later build no longer prints them.',
  },
  'follow:problems': {
    behaviour: 'Problem matchers name file, line, test and message of the errors that common tools print.',
  },
  'follow:matchers': {
    behaviour:
      'A problem matcher of `earpiece.toml` reads the errors of a command, in linear time. A matcher of a project waits for trust.',
  },
  'follow:told-once': {
    behaviour:
      'After a crash at any write of a follower, nothing is reported twice, and nothing is lost that the source still has.',
  },
  'follow:withdrawn': { behaviour: 'When a follower no longer sees a reported problem, it withdraws the notification.' },
  'follow:trouble': {
    behaviour:
      'If a thing cannot be checked, the follower reports the reason after three failed polls, or at once if only a person can solve the problem. `following` shows the reason.',
  },
  'follow:sessions': {
    behaviour:
      'Followers poll while a session is active, and with `--keep` also without a session. The next session starts the process again and reads the changes in between.',
  },
  'follow:restart': {
    behaviour:
      'If the process of the followers was killed, a new session starts it again. Each running gateway, MCP server, plugin and chat starts it within a minute.',
  },
  'follow:pace': {
    behaviour: 'A follower polls no more often than documented. After a machine wakes from sleep, followers poll at once.',
  },
  'follow:files': {
    behaviour: 'Changes to files that match the followed globs are reported, including changes between two sessions.',
  },
  'follow:git': { behaviour: 'In a followed repository, a switched branch, a moved upstream and a conflict are reported.' },
  'follow:lsp': {
    behaviour: 'New errors that a language server finds in changed files are reported once, and withdrawn when they are fixed.',
  },
  'follow:agent': {
    behaviour: 'A followed agent is reported once: when its turn ends, when an interrupt blocks it, or when its session ends.',
  },
  'follow:tool': {
    behaviour:
      'The tool `follow` reaches pull requests of this repository, logs and files inside the project, its repository, its agents and URLs of this machine. The tool ends only its own followers.',
  },
  'follow:offer': {
    behaviour:
      'After `gh pr create` or `git push`, hooks offer the agent once to follow the pull request, unless the agent already follows it. `follow.offer = false` turns the offer off. A project with an untrusted setting gets no offer.',
  },
  'follow:limits': { behaviour: 'A project follows at most 50 things, and an agent adds at most 10.' },
  'sources:sub-agents': {
    behaviour: 'When a sub-agent in the background has ended, the agent that started it gets one notification with the result.',
  },
  'sources:webhooks': {
    behaviour: 'A correctly signed webhook becomes events, once. Any other request is refused with a reason.',
  },
  'cli:emit': {
    behaviour: 'earpiece emit accepts CloudEvents and prints the subscribers that matched each event, with the result.',
  },

  // Reports of the agent of Earpiece, to others and to itself.
  'sources:failures': {
    behaviour: 'A failing tool call emits one failure or one timeout. The model reads it once, in the result of the call.',
  },
  'sources:thresholds': {
    behaviour:
      'By default, an agent is warned once a turn at 80 % of its tokens and its time. For its iterations and its context, the warning comes at 70 %.',
  },
  'sources:loops': {
    behaviour: 'If an agent makes the same calls in three of its last six batches, the agent is warned once a turn.',
  },
  'sources:rate-limits': {
    behaviour:
      'A nearly exhausted provider limit is reported once until the limit resets. Each refusal of the provider is reported.',
  },
  'self:deferred': { behaviour: "An agent's note to itself arrives once, at its time, even across restarts." },

  'hosts:in': {
    behaviour:
      'earpiece in wakes an idle agent with one typed line. The command types nothing while the agent works or a person types.',
  },
  'hosts:in-enter': {
    behaviour:
      'The command `earpiece in` waits before it presses Enter, and presses Enter again if no turn begins. The command never types the line twice into one input box.',
  },
  'hosts:in-keys': {
    behaviour:
      'earpiece in holds your keys until the agent has accepted the line, for about 1.2 s at most. Your text never joins the line: if the agent does not accept the line, the line is erased. Ctrl+C passes at once.',
  },
  'hosts:in-ends': {
    behaviour:
      'When its terminal closes, or after a signal, the command `earpiece in` ends its agent, also an agent that ignores the signal.',
  },
  'hosts:wake-codex-esc': {
    behaviour:
      'After Esc in Codex, Earpiece queues no line, because Codex would hold the line until after your next prompt. This prompt carries the notifications.',
  },
  'hosts:in-woken': {
    behaviour:
      'The command `earpiece in` types nothing for an agent that Earpiece wakes through its hooks, so one notification wakes such an agent once.',
  },

  // Agents that talk to each other, and the MCP server of Earpiece.
  'talk:tell': {
    behaviour: 'An agent can send messages only to agents of its own project, below critical. Each message names its sender.',
  },
  'talk:loops': { behaviour: 'A chain of replies ends, and a quota stops an agent that sends in a loop.' },
  'talk:list': { behaviour: 'list_agents shows only the agents of the same project.' },
  'talk:when': {
    behaviour: "On request, an agent gets one notification when another agent is idle, or when that agent's session has ended.",
  },
  'mcp:server': {
    behaviour:
      'earpiece mcp gives an agent without wrapped servers the tools to read notifications, answer messages and reach other agents.',
  },
  'mcp:hooks': {
    behaviour:
      'A host that calls the tool `hook` of earpiece mcp gets the answer of the hook command, without starting a process.',
  },

  // Tasks.
  'tasks:transitions': {
    behaviour: 'A task changes only to an allowed status. A refusal names the allowed statuses and changes nothing.',
  },
  'tasks:expected': {
    behaviour: 'A change with an outdated expected status or version is refused, and no agent gets a notification.',
  },
  'tasks:interrupts': {
    behaviour:
      'Only the agent that works on a stopped task gets an interrupt, once. No agent can stop the work of another agent.',
  },
  'tasks:executions': {
    behaviour:
      "An execution starts once, when an agent takes the task or an assigned task becomes in_progress. The execution ends once, with the agent's report or as lost.",
  },
  'tasks:blocked': {
    behaviour:
      "If a person blocks a task, its agent stops at the next call, and the agent's report closes the execution, all in under 2 s.",
  },
  'tasks:unblocked': {
    behaviour: 'If a person unblocks a task before the agent has read the interrupt, the interrupt never arrives.',
  },
  'tasks:known-faults': {
    behaviour:
      'A chat of the same agent neither gets nor consumes the interrupt of a task. A refused change of a task leaves no interrupt.',
  },
  'tasks:tools': { behaviour: 'Agents get the task tools in projects with tasks, and can report only their own work.' },
  'tasks:own-agent': {
    behaviour: 'The agent of Earpiece has the same task tools under the same rules, and reads an interrupt once.',
  },
  'tasks:without-tools': {
    behaviour: 'An interrupt names only tools that the agent has.',
  },
  'tasks:retention': {
    behaviour: 'Finished tasks are removed after their retention time, with all records, in one step. Unfinished tasks stay.',
  },
  'tasks:routes': {
    behaviour: 'A person can manage tasks over HTTP and the command line. Other senders are refused.',
  },
  'tasks:hosts': {
    behaviour:
      "When a person stops a task of Claude Code, the agent's next call is refused, and the agent's next request contains the interrupt.",
  },
  'tasks:one-step': {
    behaviour: 'A change of a task and its notification are one append, so a kill never leaves only one of them.',
  },
  'tasks:purpose': {
    behaviour: 'A conversation with the purpose chat takes no task, reports no task and gets no notification about tasks.',
  },
  'tasks:replay': { behaviour: 'A replay of the records of a task from all logs computes the stored task.' },
} as const satisfies Record<string, Requirement>;

export type RequirementId = keyof typeof REQUIREMENTS;
