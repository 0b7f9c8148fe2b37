/**
 * Earpiece's promises as data, one line each. A test that proves a promise cites its id (`verifies`, `proves`);
 * `requirements.test.ts` fails on a promise that no test cites, and `docs/guarantees.md` cites the same ids.
 */
type Requirement = { readonly behaviour: string };

export const REQUIREMENTS = {
  // Projects.
  'project:unique': {
    behaviour:
      'A project name belongs to one repository. A second repository of that name gets a longer name, and one line says so once.',
  },
  'project:moved': {
    behaviour: 'A root whose old path is gone keeps its name after one confirmation, or if the environment names it.',
  },
  'project:foreign': { behaviour: "An untrusted file does not take another root's project name or address." },
  'trust:person': {
    behaviour: "An untrusted project file cannot lower, expire, drop, shorten or hide a person's critical notification or pause.",
  },
  'trust:speech': {
    behaviour: 'A clone cannot speak to the model before it is trusted: no system prompt, model, waking or subscriber.',
  },

  // The log: recording and recovery.
  'log:queued-first': { behaviour: 'A queued notification is in the log before anything delivers it.' },
  'log:durable': { behaviour: 'An acknowledged notification survives kill -9 of the process that wrote it.' },
  'log:idempotent': { behaviour: 'The id of a notification is queued once, even if several producers repeat it.' },
  'log:replay': { behaviour: 'Any prefix of a log replays to the open set that a live process had.' },
  'log:unknown-types': { behaviour: 'Unknown record types and fields are read back unchanged.' },
  'log:omits-defaults': { behaviour: 'Level info and empty lists are not serialized.' },
  'time:own-clock': {
    behaviour:
      'A process uses its own clock. A wrong clock of another process neither ends nor delays notifications of other producers.',
  },
  'time:sender': { behaviour: 'A producer whose clock is a year off neither expires nor delays what it queues.' },
  'time:witness': {
    behaviour: 'A process closes nothing as expired and prunes nothing while no other live process has a similar clock.',
  },
  'log:clock': { behaviour: 'The time of a log never runs backwards, even when the clock does.' },
  'log:closes-once': { behaviour: 'An id closes once per conversation.' },
  'log:fork': { behaviour: 'A fork keeps the open notifications, with the same ids.' },
  'log:retention': { behaviour: 'Retention prunes closed records; the rest of the log replays to the same open set.' },
  'log:allowlist': {
    behaviour: 'Only the chat and tool records reach a request to a provider.',
  },
  'log:redacted-carrier': {
    behaviour: 'A carrier that the provider refuses is replaced by one line.',
  },

  // Stores.
  'store:contract': { behaviour: 'Every store passes the whole contract suite.' },
  'store:contract-holes': {
    behaviour:
      'The contract suite finds a store that loses anything acknowledged when it is opened again, and names the broken rule.',
  },
  'store:postgres': {
    behaviour:
      'A PostgreSQL database keeps the logs of many machines: it passes the contract, and positions become visible in their order.',
  },
  'store:postgres-schema': {
    behaviour: 'The PostgreSQL schema after all migrations is the golden one, however many processes make it.',
  },
  'store:postgres-failover': {
    behaviour:
      'When PostgreSQL restarts or a synchronous standby takes over, calls wait, and nothing acknowledged is lost or doubled.',
  },
  'store:postgres-pooler': {
    behaviour: 'The PostgreSQL store works behind a pooler that gives each transaction another connection.',
  },
  'store:postgres-errors': {
    behaviour: 'An error of PostgreSQL names the database, the reason and the way out, and never the password.',
  },
  'store:postgres-tls': { behaviour: 'With sslmode=verify-full, only a certificate of the given authority opens a connection.' },
  'store:thread': {
    behaviour:
      'A separate thread writes waiting requests together, answers each caller, and blocks nobody while another process holds the lock.',
  },
  'store:thread-quiet': {
    behaviour: 'The thread says at once whether a conversation is quiet, for each commit of another process.',
  },
  'store:frozen-disk': {
    behaviour:
      'A disk that is frozen, or a lock that is held, delays no call by more than 300 ms; what waits arrives afterwards, once.',
  },
  'gate:unwritable': {
    behaviour:
      'A raised gate also refuses calls while nothing can be written: a pause until it is lifted, a critical for the calls of its batch.',
  },
  'lease:client-died': {
    behaviour:
      'If a client is killed within 250 ms of an answer, the next session gets the notification again, flagged. Over HTTP this needs an open connection.',
  },
  'store:no-starving': { behaviour: 'Against two producers without pause a carrier wins within 200 ms.' },
  'store:processes': { behaviour: 'Several processes on one file append exactly: nothing lost, nothing torn.' },
  'store:half-deleted': {
    behaviour:
      'If the main file, its -wal or its -shm is deleted, replaced or truncated while in use, no acknowledged record is lost silently.',
  },
  'store:kill-9': { behaviour: 'A database is sound when it is opened again after kill -9 between any two writes.' },
  'store:refuses': { behaviour: 'A network file system, an old SQLite and a foreign file are refused with a way out.' },
  'store:private': { behaviour: 'The database file is readable by its user only.' },
  'store:upgrade': {
    behaviour: "A database from before 0.1.0 opens: open notifications, gates, mutes and the project's name stay.",
  },
  'store:schema': { behaviour: 'The schema after all migrations is the golden one.' },
  'store:watch': { behaviour: 'A watcher in another process sees each record once, in order, without losing any.' },
  'store:unread-check': { behaviour: 'Whether anything is open is answered by an index, in at most 10 ms over 1,000 open.' },
  'faults:points': {
    behaviour: 'The process ends at each named write boundary (20 times each in npm run faults): 0 lost, 0 closed twice.',
  },
  'faults:random': { behaviour: 'Random kill -9 with four processes on one file: 0 lost, 0 closed twice.' },
  'faults:checker': { behaviour: 'The checker of the fault runs finds three planted bugs.' },
  'faults:system': {
    behaviour:
      'With kill -9 over hosts, gateways, server, library users and commands, nothing acknowledged is lost, each repeat is flagged, tool output is unchanged, and no call passes a gate.',
  },
  'faults:system-checker': {
    behaviour:
      'The checker of the system storm uses only frames of clients and answers to producers. A test breaks each of its rules.',
  },

  // Delivery.
  'delivery:once': { behaviour: 'If your program owns the transcript, a notification is delivered exactly once.' },
  'delivery:everything-due': { behaviour: 'A carrier takes everything that is due, and nothing twice.' },
  'delivery:nothing': { behaviour: 'With nothing open the carrier is unchanged.' },
  'delivery:whole': { behaviour: 'The carrier holds the whole notification and the text that was sent.' },
  'delivery:carriers': { behaviour: 'User messages, tool results and failing tool results carry.' },
  'delivery:other-process': {
    behaviour: 'A notification that another process queued is in every tool result whose offer starts after queue returned.',
  },
  'delivery:thousand-calls': {
    behaviour: 'Exactly once over 1,000 calls, 8 in flight, two gateways of one conversation.',
  },
  'delivery:two-carriers': { behaviour: 'Two carriers of one conversation never both take a notification.' },
  'lease:repeated': {
    behaviour: 'Killed between offer and confirm: offered again with the same id and item text, flagged as repeated.',
  },
  'lease:released': { behaviour: 'A cancelled request or a failed write releases its offer.' },
  'lease:answered': {
    behaviour: 'A cancel of a fully answered request is ignored: nothing is repeated, and a pull lowers the gate.',
  },
  'lease:dead-owner': { behaviour: 'The lease of a dead process is free at once, the lease of a living process after its time.' },
  'lease:late-confirm': { behaviour: 'A late confirm is recorded and flagged, never a second close.' },
  'lease:withdrawn': {
    behaviour:
      'A notification that was withdrawn or expired after an offer is not offered again: maybe seen. The rest of its line is offered again, flagged.',
  },
  'delivery:verdict': {
    behaviour: 'why begins with one sentence. The sentence is true for the present agents, and its advice works.',
  },
  'delivery:receipts': { behaviour: 'why(id) shows the receipt and the reason of each decision.' },
  'delivery:in-turn-reply': { behaviour: "A person's reply inside a turn carries." },
  'delivery:batch': { behaviour: 'A batch of tools carries once, with its last response.' },
  'delivery:idle': { behaviour: 'An idle agent gets one combined request.' },
  'force:between-turns': { behaviour: 'A critical between turns makes a system request.' },
  'force:mid-stream': {
    behaviour: 'A critical aborts the stream. Finished parts are kept, and retries do not fire.',
  },
  'force:during-tools': { behaviour: 'A critical during tools rides on their responses.' },
  'force:no-loops': {
    behaviour: "An id wakes once. An agent's own actions never wake it.",
  },

  // The agent of Earpiece, over the wire of each API.
  'agent:wire': { behaviour: 'Every request is valid for the real API, and the validator rejects invalid ones.' },
  'agent:aborts': { behaviour: 'After an abort, exactly the parts of the answer are kept that the API accepts again.' },
  'agent:prefix': {
    behaviour: 'A prefix once sent never changes by a byte, through reasoning, notifications, aborts and restarts.',
  },
  'agent:refusals': {
    behaviour:
      'A request that the provider refuses loses no notification: the next successful request has it, once, unless the provider accepts it only without.',
  },
  'agent:cache': {
    behaviour: "At Anthropic, each request of a conversation finds the whole previous request in the provider's cache.",
  },
  'agent:keys': {
    behaviour:
      "Provider keys and Earpiece tokens reach neither the agent's commands nor its MCP servers, unless a person names them.",
  },
  'gate:unfiltered': {
    behaviour: "No mute and no setting hides a person's pause, cancel, resume or critical from the plan or the gate.",
  },
  'agent:no-person': {
    behaviour: 'A command of the agent speaks for the agent: never as a person, at most at error, and it lifts no order.',
  },
  'handles:ends-with-agent': {
    behaviour: 'A command that a call waits for ends with its agent, also after kill -9.',
  },
  'agent:mcp-results': {
    behaviour: 'A long result of an MCP tool is cut in the middle and kept in a file. Structured content and pictures are kept.',
  },
  'agent:endings': {
    behaviour:
      'A cut-off, refused or broken answer is reported as such to a person, a script and a library. Cut-off calls do not loop.',
  },
  'agent:stop': {
    behaviour: 'A stop ends the turn, also before it begins and right after another interruption.',
  },
  'agent:kill-9': {
    behaviour:
      'After a kill at any point and a resume, each notification is in the transcript once, each call has its answer, and each request extends the last.',
  },

  // Agents of the AI SDK.
  'ai-sdk:once': {
    behaviour:
      'In an agent of AI SDK 6 or 7 a notification is in one message of its transcript: a batch of parallel calls carries once, a failing tool too.',
  },
  'ai-sdk:prefix': {
    behaviour:
      'With the adapter for AI SDK 6 and 7 each request begins with the bytes of the one before, and a tool keeps its output.',
  },
  'ai-sdk:interrupt': {
    behaviour:
      'A critical cuts off the answer of an AI SDK agent; the same turn goes on with the finished steps, the partial text and the critical.',
  },
  'ai-sdk:gate': {
    behaviour: 'The tools of an AI SDK agent are refused while an interrupt is unread, and run again in the next step.',
  },
  'ai-sdk:receipts': {
    behaviour:
      'A notification in an AI SDK agent counts as delivered when the caller keeps its message; after a kill before that it rides again.',
  },

  // The plan.
  'plan:decides-all': { behaviour: 'The plan decides about each open notification exactly once, with a reason.' },
  'plan:order': { behaviour: 'The order is critical, error, warning, info, and oldest first within a level.' },
  'plan:rendered': {
    behaviour: 'The token budget counts the text that templates make, and cuts none of it.',
  },
  'plan:budget': {
    behaviour: 'A budget never cuts errors and criticals. The rest is summarized with its number and where to read it.',
  },
  'plan:pure': { behaviour: 'The same input gives the same plan and the same view.' },
  'plan:filter-source': { behaviour: 'A source that is off does not ride.' },
  'plan:filter-name': {
    behaviour: 'A name that is off does not ride; the flat form "source.name" wins over a name like enable.',
  },
  'plan:filter-tool': { behaviour: "A producing tool's notifications are off for that tool only." },
  'plan:master-switch': { behaviour: 'With the master switch off nothing rides; by default all of it does.' },
  'plan:filtered-recorded': { behaviour: 'A filtered notification stays in the log, and requeue brings it back.' },
  'plan:relevance': { behaviour: 'Expired, withdrawn and already known notifications do not ride.' },
  'plan:supersede': { behaviour: 'If several states have one key, only the newest rides.' },
  'plan:moment': {
    behaviour: 'A notification waits for its moment: a contact point, a time, a number of turns, or the longest delay.',
  },
  'plan:coalesce': {
    behaviour:
      'Notifications of one key, or of one source inside its window, become one line with the count and the differences.',
  },
  'plan:critical': { behaviour: 'A critical is neither delayed, nor batched away, nor summarized.' },
  'queue:fold': { behaviour: 'A notification for an open key that was never offered adds to its count.' },
  'queue:max-open': {
    behaviour: 'Beyond maxOpen the oldest of the lowest level are dropped, with one summary of their number and kinds.',
  },
  'queue:mute': { behaviour: 'A muted kind is silent until its time is over.' },
  'queue:expiry': { behaviour: 'Each level has its time to live; critical has none.' },
  'queue:redact': {
    behaviour: 'Text that a redact pattern matches in a message, instruction, data or withheld result is not stored.',
  },
  'queue:patterns': {
    behaviour: 'A redact pattern takes linear time. While a pattern is invalid, whole texts are redacted.',
  },
  'queue:handles': { behaviour: 'A handle that was polled or awaited raises no notification.' },
  'queue:many': { behaviour: 'A hundred different errors at once are queued without waiting for a timer (SC-004).' },

  // Views.
  'view:markdown': { behaviour: 'The Markdown view groups lines by level, with its preamble and rules.' },
  'view:xml': { behaviour: 'The XML views are one element per item, or one batch with its count.' },
  'view:toon': { behaviour: 'The TOON view is a table for several notifications, and a line for one.' },
  'view:json': { behaviour: 'The JSON view parses to what was queued.' },
  'view:data': {
    behaviour: "A sender's data follows the message as JSON. If it is too long, the line says where to read it.",
  },
  'view:budget': {
    behaviour: 'An item that is longer than a carrier allows is cut, says so, and can be read in full.',
  },
  'view:signal': { behaviour: 'The signal views have fixed texts in English and Japanese, byte for byte.' },
  'view:hostile': { behaviour: 'No body can imitate a notification, break a view, or flood it.' },
  'view:look-alikes': {
    behaviour: 'A body that writes a frame with look-alike letters, slashes, brackets or spaces is escaped too.',
  },
  'mark:instructions': {
    behaviour:
      "The mark is in the instructions of every gateway of an agent before the first frame, after the server's instructions.",
  },
  'mark:frame': {
    behaviour: 'If a client shows no instructions, the first frame explains the mark, and again after /clear.',
  },
  'mark:stable': { behaviour: 'An agent keeps its mark until earpiece trust --new-mark. Sent texts keep the old mark.' },
  'view:stable': { behaviour: 'A sent text is stored and never rendered again.' },
  'view:tokens': { behaviour: 'The default view keeps to its token bars on the committed corpus.' },
  'view:templates': { behaviour: 'A failing template falls back, and nothing is lost.' },

  // The gate.
  'gate:no-id': {
    behaviour: 'A tools/call without an id does not pass a raised gate, and never goes to one of several servers.',
  },
  'gate:refuses': { behaviour: 'Of 8 calls made after an interrupt none reaches the upstream server.' },
  'gate:one-text': { behaviour: 'All refused calls get the same id and text: one delivery, the others repeats.' },
  'gate:lowered': { behaviour: 'get_notifications lowers the gate, as do withdraw, resume and expiry.' },
  'gate:batch': {
    behaviour: 'A serial batch of calls is refused whole: the gate does not fall within a second of its last refusal.',
  },
  'gate:asked-again': {
    behaviour: 'Without get_notifications, a critical and a cancel fall at a call that begins a second after the last refusal.',
  },
  'gate:unproven': {
    behaviour: 'If the proof that a host gives does not come, a critical falls a minute after its first refusal.',
  },
  'gate:model-asked': {
    behaviour: 'A critical and a cancel fall when the host shows that it sent the refusal to its model.',
  },
  'gate:read-unasked': { behaviour: 'An interrupt that the agent read with get_notifications is not refused again.' },
  'gate:pause': {
    behaviour: 'A pause holds until it is resumed, withdrawn or expires. Its refusal names who lifts it and how.',
  },
  'gate:expired': {
    behaviour:
      'why, inbox, agents, the API and the console show an expired interrupt as expired and its gate as down. A refusal says until when a pause holds.',
  },
  'gate:withdrawn': { behaviour: 'Withdrawing a delivered interrupt lowers its gate and says so, with exit code 0.' },
  'gate:resume': {
    behaviour:
      'earpiece resume lifts pauses, names them, and wakes. Without a pause it says so. An agent that never saw the pause reads nothing.',
  },
  'gate:before': { behaviour: 'A call that already runs returns its result and the interrupt.' },
  'gate:after': { behaviour: 'With interrupt "after" the side effect happened once and its result is readable later.' },
  'gate:purpose': { behaviour: 'An action goes to each active conversation of matching purpose, once.' },
  'gate:own-tools': { behaviour: 'The tools of Earpiece always pass.' },

  // The address of a conversation.
  'address:agent': {
    behaviour:
      "The agent's first conversation that carries takes a notification for project/agent. A conversation takes only its own.",
  },
  'address:fan-out': {
    behaviour: 'project/* reaches each active conversation once and no ended one, also after an interruption.',
  },
  'address:nobody': { behaviour: 'If no agent is there, the error says what to do.' },
  'address:windows': { behaviour: 'Two windows of one agent are two conversations.' },
  'address:clear': { behaviour: 'After /clear, open notifications go to the new session of the same process.' },
  'address:order': {
    behaviour:
      "A flag has priority over the binding of the host process, then the host's session variable, then the process, then one #main per agent.",
  },
  'address:standing': {
    behaviour:
      'A critical notification or an action to project/* also reaches conversations that begin while it is open, once each.',
  },
  'presence:active': {
    behaviour: 'An ended conversation, or one whose process is dead, is inactive at once, for every command and the server.',
  },
  'presence:health-check': {
    behaviour: 'A connection that called no tool leaves nothing behind.',
  },
  'succession:heir': {
    behaviour: "Unread notifications of an ended conversation go to the agent's next conversation in the same worktree, once.",
  },
  'succession:gate': { behaviour: 'A raised gate stays up for the heir: a resume or a restart does not escape it.' },
  'succession:merge': {
    behaviour: 'The conversations of one host process are one: offers, gate and reads move along.',
  },
  'succession:told-once': {
    behaviour: 'A copy of a broadcast does not move to the heir of a conversation that has read it.',
  },
  'succession:told': { behaviour: 'agents and why show from where to where a notification moved, and why.' },
  'address:tokens': {
    behaviour:
      'A connection reads and reports for its own conversation only. An address is not a session token. why names the reader.',
  },
  'address:other-agent': { behaviour: 'A notification for another agent stays open.' },

  // The gateway.
  'gateway:identical': {
    behaviour: 'With nothing open every tool of two real servers answers byte for byte as without the gateway.',
  },
  'gateway:forged-answers': {
    behaviour:
      'An answer of a server passes once, to a request that this server got. Any other answer is dropped, with one line.',
  },
  'gateway:tools-list': { behaviour: 'A golden file holds the changes of each profile to tools/list.' },
  'gateway:oddities': { behaviour: 'Odd JSON passes unchanged: 1.0, 2^53+1, duplicate keys, \\u0041, 1e400.' },
  'gateway:conformance': { behaviour: 'The conformance suite gives the same verdicts direct and through the gateway.' },
  'gateway:stateless': { behaviour: 'The stateless protocol gives the same answers direct and through the gateway.' },
  'gateway:inspector': { behaviour: "The inspector's command line lists and calls through the gateway." },
  'gateway:profiles': { behaviour: 'Blocks, extend and strip change the result as they say, and nothing else of it.' },
  'gateway:max-result': { behaviour: 'A result that is too big with its view carries nothing, and the delivery is released.' },
  'gateway:restart': { behaviour: 'A crashed server is started again; open calls are answered and the next call works.' },
  'gateway:partial-frame': {
    behaviour: 'If a server dies in the middle of a frame, the client gets no part of it, and a separate error frame.',
  },
  'gateway:mcp-events': {
    behaviour: 'A server that drops queues mcp.disconnected, withdrawn when it is back with mcp.reconnected.',
  },
  'gateway:no-orphans': { behaviour: 'The gateway ends with its client and leaves no process behind.' },
  'gateway:store-trouble': { behaviour: 'Without its store for 250 ms the call passes unchanged, with one line on stderr.' },
  'gateway:fronts-many': {
    behaviour: 'The gateway serves all servers of a configuration. Tool names have prefixes, and a collision is an error.',
  },
  'gateway:reach': { behaviour: "If only a gateway carries, doctor names the host's tools that carry nothing." },
  'gateway:streams': {
    behaviour: 'A listen or an event stream stays open when its server restarts, and continues from its last cursor.',
  },
  'gateway:starts-apart': {
    behaviour:
      'A slow, hanging or broken server delays and hides no other: ready servers are listed, the rest follows with list_changed.',
  },
  'gateway:starts-early': {
    behaviour: "A wrapped server starts before the gateway's own code is loaded, and ends with a command line that is refused.",
  },
  'gateway:late-instructions': {
    behaviour:
      'The instructions of a server that starts after the handshake reach the agent as one notification, in the words of that server.',
  },
  'gateway:lists-once': {
    behaviour:
      'A client that reads its list of tools once (Codex, Qwen Code) gets it when all servers have started or failed, or after 12 s.',
  },
  'gateway:broken-server': {
    behaviour:
      'The agent gets one notification about a server that does not start, with exit code and stderr. It is withdrawn when the server works; doctor names the server.',
  },
  'gateway:left-out': {
    behaviour:
      'A server with an unset variable is reported like a failing server. The others keep working, and their tool names stay.',
  },
  'gateway:after-names': {
    behaviour: 'after:<tool> takes the name that the client lists, server:tool, and the name that the server gives its tool.',
  },
  'gateway:stopping': {
    behaviour: 'When the gateway stops, each open HTTP call gets an answer that says so.',
  },
  'gateway:http': { behaviour: 'Streamable HTTP listens on 127.0.0.1, checks Origin, Host and the bearer token.' },
  'gateway:print': {
    behaviour:
      '--print writes the line that installs the gateway in each client, with all options and the database, and the line that removes it.',
  },
  'gateway:names': { behaviour: 'A server without a name gets the name of its package, image, module, script or host.' },
  'gateway:fuzz': { behaviour: 'No crash and no hang in the framing, however the bytes are cut or damaged.' },

  // The pull model.
  'pull:newest-first': { behaviour: 'get_notifications answers newest first, scoped to project, agent and conversation.' },
  'pull:read-once': { behaviour: 'Read on fetch: a second fetch is empty; mark_as_read = false keeps them.' },
  'pull:repeated': {
    behaviour:
      'A notification that get_notifications shows after a frame that may have arrived, or while another carrier holds it, is marked as repeated.',
  },
  'pull:due': { behaviour: 'A notification with a time, such as a reminder, is not pulled before that time.' },
  'pull:rest': { behaviour: 'get_notifications also returns summarized notifications and withheld results.' },
  'pull:fields': {
    behaviour: 'The fields of get_notifications are id, type, action, message, instruction, created_at and task_id.',
  },
  'pull:signal': { behaviour: 'In signal mode the notification field is in every result, and repeats until it is read.' },
  'pull:name': { behaviour: 'get_notifications gets another fixed name if the upstream has a tool of that name.' },
  'pull:report-completed': {
    behaviour: "report_completed(blocked) after a person's block succeeds and closes the execution log.",
  },

  // Real clients.
  'hosts:install': {
    behaviour:
      "Installing changes only Earpiece's entries in an agent's settings, asks before, and gives the reason for settings that it cannot change.",
  },
  'hosts:uninstall': {
    behaviour:
      "Uninstalling restores the bytes before the installation. In a file that was changed since, only Earpiece's entries go.",
  },
  'hosts:installed': {
    behaviour:
      'After earpiece install the real agent hears a notification with its built-in tools, and the doctor finds nothing wrong.',
  },
  'hosts:wrap': {
    behaviour:
      'earpiece install --wrap puts one gateway before the servers of an agent; values of their environment stay in its settings, and uninstall gives back the bytes.',
  },
  'hosts:status-line': {
    behaviour:
      'The status line of Claude Code shows what is open behind the line that its person has; nothing open shows nothing.',
  },
  'hosts:doctor': {
    behaviour: 'The doctor sends a test notification through each installed hook, and names any obstacle with a way out.',
  },
  'hosts:lasting': {
    behaviour:
      'Hooks work on after a switch of Node, a cleaned cache of npx and an upgrade in place. Where they cannot, they say so in one line, and the doctor names the way out.',
  },
  'hosts:cloned': {
    behaviour:
      "In a cloned repository with an earpiece in its node_modules and a registry in its .npmrc, npx still runs the user's Earpiece.",
  },
  'hosts:claude-plugin': {
    behaviour:
      'The plugin of Claude Code carries as the hooks of earpiece install do. With both, each notification comes once, and the doctor names the second copy.',
  },
  'hosts:claude-code': { behaviour: "Claude Code's raw request holds the notification once, at the right result." },
  'hosts:codex': { behaviour: "Codex's raw request holds the notification once, at the right result." },
  'hosts:sessions': {
    behaviour:
      'In long sessions of six real agents each notification is read once or flagged, also after a kill of the gateway or of the agent.',
  },
  'hosts:gate': {
    behaviour:
      'In front of six real agents a batch of writing calls is refused whole, an agent that never pulls works on, and a pause holds until a person lifts it.',
  },
  'hosts:hold': {
    behaviour: 'An error holds the end of a turn of Claude Code, at most three times in a row; no turn is held for ever.',
  },
  'hosts:hook-trouble': {
    behaviour:
      'A failing hook never stops its agent: no output, one line on stderr, exit code 0, also with a missing folder, a wrong command line or endless input.',
  },
  'gateway:gone-folder': {
    behaviour: 'A gateway and earpiece mcp work in a deleted working folder, and name the folder that they use instead.',
  },
  'hosts:distinct-sessions': {
    behaviour: 'Two session ids of a host are two conversations, even if an address does not allow their characters.',
  },
  'hosts:lean': {
    behaviour: 'A hook call with nothing open loads eleven small files and prints nothing; it writes a sign of life every 30 s.',
  },
  'hosts:served': {
    behaviour:
      'The running earpiece mcp answers the batch ends of Claude Code. While that server is missing or dead, the hook before a tool carries.',
  },
  'hosts:quiet-mark': {
    behaviour:
      'While nothing waits for a session, the hook before a tool ends in its shell; any change of the database starts it, also one to an older time.',
  },
  'hosts:evidence': {
    behaviour:
      'Earpiece looks for delivered notifications in the transcript of Claude Code, Codex or Qwen Code, and records them as observed.',
  },
  'hosts:lost': {
    behaviour:
      'A notification that a hook printed is offered again, flagged, if the hook dies before it confirms, or the agent before it asks its model.',
  },
  'hosts:wake-claude': {
    behaviour:
      'An idle Claude Code wakes for each notification that may wake it, once. Each process has one waiter, which ends with it and wakes no other session.',
  },
  'hosts:clear': {
    behaviour: 'After /clear in a real terminal the new context has the mark, and open notifications arrive once.',
  },
  'hosts:plugins': {
    behaviour:
      'opencode and pi with the plugin read each notification once among built-in and wrapped tools, and a pause stops the next call of any tool.',
  },
  'hosts:wake': {
    behaviour:
      'An idle opencode or pi wakes for each notification that its policy allows, once. A critical ends the streaming request.',
  },
  'hosts:bridge': {
    behaviour:
      'A bridge that is killed, hangs or is missing stops no agent: one line says so, another bridge starts, and nothing is lost or repeated without a flag.',
  },
  'hosts:hooks': {
    behaviour:
      'A real agent with hooks and only built-in tools reads each notification once, at the documented place, and no earlier message changes.',
  },
  'hosts:one-conversation': {
    behaviour: 'Hooks and a wrapped MCP server of one session carry for one conversation: each notification is read once.',
  },
  'hosts:hook-gate': {
    behaviour:
      'A pause denies the very next call of a built-in tool, holds until a person lifts it, and a critical falls when it is read.',
  },
  'hosts:slow-batch': {
    behaviour:
      'In Claude Code, Gemini CLI and Qwen Code an interrupt refuses the whole batch, however much time passes between its calls.',
  },
  'hosts:lost-refusal': {
    behaviour:
      'If Claude Code, Codex, Gemini CLI or Qwen Code drops a refusal and runs the call, the interrupt comes again, flagged, with the result of that call.',
  },
  'hosts:late-hook': {
    behaviour:
      'A hook that ends near or after the time limit of its agent counts as not delivered: its notifications come again, flagged.',
  },
  'hosts:wake-codex': {
    behaviour:
      'An idle Codex terminal wakes by its own queue for each notification that its policy allows, once. One process waits beside it.',
  },
  'hosts:hook-resume': {
    behaviour: 'Open notifications of a killed agent with hooks are read once in its resumed session.',
  },
  'hosts:shapes': { behaviour: 'The same holds for a tool with outputSchema, a failing tool and a 60 kB result.' },

  // Configuration and command line.
  'config:forms': { behaviour: 'Both filter forms and both shapes of per-tool tables mean the same.' },
  'config:unknown-key': { behaviour: 'An unknown key is an error with line, column and "did you mean".' },
  'config:explain': { behaviour: 'config explain names the source of each value.' },
  'config:live': {
    behaviour: 'A changed file takes effect at the next contact point. A broken file changes nothing and is reported once.',
  },
  'config:trust': { behaviour: 'Parts of a cloned repository that run commands or open connections wait for trust.' },
  // Settings that a person changes, and the file that keeps them.
  'config:set': {
    behaviour: 'A changed setting keeps its spelling in the file. Comments, order and layout stay byte for byte.',
  },
  'config:set-refused': {
    behaviour: 'An unknown setting, an invalid value and a broken file are refused with their place, and nothing changes.',
  },
  'config:set-safe': {
    behaviour: 'A change is whole or absent, follows links, keeps the mode, and loses no change of another program.',
  },
  'cli:private': {
    behaviour: 'Cache folder, state folder, database and tokens are private to their owner, whatever the umask.',
  },
  'cli:odd-files': {
    behaviour: 'A device, a pipe, a folder or an oversized file is an error and takes no memory.',
  },
  'cli:large': {
    behaviour:
      'The command line works on logs of any length: inbox pages, db check and doctor show progress, db prune gives space back.',
  },
  'cli:send-wait': { behaviour: 'send --wait delivered answers with an exit code that scripts can use.' },
  'cli:forget': {
    behaviour:
      'earpiece forget erases all that the database keeps of one agent, down to the bytes, also in the -wal, and says what stays and which files still show it.',
  },
  'cli:purge': {
    behaviour:
      'earpiece uninstall --purge lists what it removes, asks once, and leaves nothing of Earpiece in the home but files of projects.',
  },
  'cli:commands': { behaviour: 'Each command does what its help says, with --json too.' },
  'cli:inbox': {
    behaviour: 'The inbox of a person lists what will be delivered, in the words of its subscriber, without superseded states.',
  },
  'cli:completion': { behaviour: 'In bash, zsh and fish Tab completes commands, options and their values.' },
  'cli:exit-codes': { behaviour: 'Each command exits with the documented code.' },
  'cli:reader-gone': {
    behaviour: 'A command whose reader is gone ends silently, with the exit code of its work.',
  },
  'cli:bad-input': { behaviour: 'Bad input gets one exact message with a way out, and never a stack trace.' },

  // The agent of Earpiece, led by people and scripts.
  'chat:pending': { behaviour: 'An open notification is shown as open until it rides, and then at its place.' },
  'chat:interrupt': { behaviour: 'Ctrl+C in a turn asks: stop, reply, continue. Twice stops, a third time quits.' },
  'chat:safe': { behaviour: 'No text of a model, a tool or a notification controls the terminal.' },
  'chat:fork': { behaviour: 'A fork has the history of another conversation, and the model gets the same bytes.' },
  'chat:resume': {
    behaviour: 'After kill -9 a conversation continues its turn, and the model gets the same bytes as before.',
  },
  'chat:scripts': { behaviour: 'Without a terminal, lines are messages. With --json, events come out and messages go in.' },
  'chat:ends': { behaviour: 'A signal ends the agent and every process that it has started.' },
  'chat:sub-agents': { behaviour: "An agent and its sub-agents do not get each other's notifications." },
  'run:exit-codes': { behaviour: 'earpiece run exits with the result of its turn: 0, 1, 3, 130.' },

  // Subscriber files.
  'bus:discovery': {
    behaviour: 'A new file loads, a bad one is skipped with a line, a removed one has no effect.',
  },
  'bus:checked': {
    behaviour: 'A mistake in a subscriber file is named with line, column and a way out. A correct file loads.',
  },
  'bus:shipped': {
    behaviour: 'The shipped subscribers load without a problem and word each event, whatever it contains.',
  },
  'bus:locked': { behaviour: 'A subscriber of the core cannot be disabled, and the refusal says why.' },

  'bus:disabled': {
    behaviour: 'A disabled subscriber queues nothing from the next event on. A core subscriber cannot be disabled.',
  },
  'bus:window': { behaviour: 'Failures within 5 s are one notification with all details.' },
  'bus:order': {
    behaviour: 'Events of one key are written to a log in the order in which they arrived, withdrawals too.',
  },
  'bus:counts': { behaviour: 'Repetitions are counted, never dropped, and different details are all kept.' },
  'bus:scoped': { behaviour: 'An event reaches its subject and nobody else.' },
  'bus:moments': {
    behaviour: "A subscriber's notification rides at its moment: at once, at a turn, after a tool, or at the turn's end.",
  },
  'bus:withdraws': { behaviour: 'When a state ends, its open notifications are withdrawn.' },
  'bus:storms': { behaviour: 'A storm becomes one line that counts all of it.' },
  'bus:storms-taken-back': { behaviour: "A storm's count goes down when one of its events is resolved." },
  'bus:repeats': {
    behaviour: 'A repetition within the dedupe window is delivered when the window ends, also across processes.',
  },
  'bus:own-defects': { behaviour: 'Known faults of the first design do not occur.' },

  // Templates of subscribers.
  'bus:templates-safe': {
    behaviour:
      'A template that loops, grows, recurses or reaches out is refused within 250 ms. The next one renders, and nothing is blocked.',
  },
  'bus:toon-filter': { behaviour: 'The official decoder reads the output of toon_encode back unchanged.' },

  // Sources: files and repositories.
  'sources:files': {
    behaviour:
      'Changes of files that the agent has read are reported, but not its own changes. A restored file withdraws its notification.',
  },
  'sources:git': {
    behaviour:
      "Switched branches, a moved upstream and conflicts of a repository are reported, but not the agent's own commands.",
  },

  // The web console, in a real browser.
  'console:history': { behaviour: 'The console shows open and delivered notifications. Opening it triggers nothing.' },
  'console:login': { behaviour: 'The address that the server prints logs one browser in, once, and leaves no code behind.' },
  'console:agents': {
    behaviour: 'The page Agents shows who is there, what each agent does and how much is open by level, as it changes.',
  },
  'console:needs': {
    behaviour:
      'The list of agents begins with those that need a person. A held agent shows the interrupt, its sender and its time.',
  },
  'console:foretells': {
    behaviour: 'Test says what a real notification would do for an agent now, by the rules of delivery, and sends nothing.',
  },
  'console:moves': {
    behaviour:
      'An open notification is shown dashed at the end and moves to its carrier. With reduced motion it is there at once.',
  },
  'console:why': {
    behaviour: 'Why shows the rule, the plan, the carrier, the receipts and the exact text, ready to copy.',
  },
  'console:person': {
    behaviour: "A person's message, pause, resume and stop are pending until the log has them, and say what they do.",
  },
  'console:subscribers': {
    behaviour:
      'Three clicks switch a subscriber off, from the next event on. A core subscriber is locked, and the page gives the reason.',
  },
  'console:settings': {
    behaviour:
      "The page changes a setting in a person's own file. It names the deciding source, and says that the change takes effect at the agent's next carrier.",
  },
  'console:verdict': { behaviour: 'Why begins with one sentence, and its advice is a button that works.' },
  'console:places': { behaviour: 'The places and the filter of agents are in view with 60 agents, at 1280 and at 390 pixels.' },
  'console:mute': {
    behaviour: 'A card mutes its kind for an hour, for today or for ever. The page lists what is muted and lifts it.',
  },
  'console:toon': {
    behaviour: 'The console shows TOON as a table. TOON that does not parse is shown as it was sent, as plain text.',
  },
  'console:tasks': {
    behaviour: 'A click blocks or unblocks a task. The page shows which agent the click interrupts, and the result.',
  },
  'console:activity': { behaviour: 'Each point of a chart leads to the notifications behind it.' },
  'console:resumes': {
    behaviour: 'A reload and a restart of the server lose nothing on the page, and the page says when it is not live.',
  },
  'console:text': { behaviour: 'The console shows whatever a producer controls as text, in every field of every page.' },
  'console:accessible': { behaviour: 'axe finds no serious fault on any page, light and dark, at 1280 and at 390 pixels.' },
  'console:small': { behaviour: 'The console is under 150 kB gzipped, asks only its own server, and has nothing inline.' },
  'console:keys': { behaviour: 'The keyboard reaches everything, and the focus is always visible.' },
  'console:search': {
    behaviour: 'A search finds words in the whole log, also outside the loaded part, and each hit is a link.',
  },
  'console:forks': {
    behaviour: "A conversation's page has the command that forks it at any turn, and links to its origin and its forks.",
  },
  'console:long': {
    behaviour: 'A person can read all of a long conversation, and the page holds a part of it.',
  },
  'console:phone': {
    behaviour: 'On a phone, touch reaches everything, and no text of a producer pushes content out of the page.',
  },
  'console:hands': {
    behaviour: "Late, repeated or reordered records change nothing under a person's hands: no typed word, no focus, no choice.",
  },
  'console:teaches': { behaviour: 'An empty page says why it is empty and what to do next.' },

  // The server, its client and its tokens.
  'server:routes': { behaviour: 'Each route does what its page says, over real HTTP and through the typed client.' },
  'server:search': {
    behaviour: 'A search finds words in the whole log, a bounded part at a time. Each answer says how far back it looked.',
  },
  'server:forks': { behaviour: 'A conversation names its origin and its forks.' },
  'server:bad-input': {
    behaviour: 'Bad input gets a problem (RFC 9457) with the field, the value and a way out.',
  },
  'server:idempotent': { behaviour: 'A repeated notification with the same Idempotency-Key is queued once.' },
  'server:resume': {
    behaviour: 'With 1,000 streams and a server that is killed and started again, each stream has every record once, in order.',
  },
  'server:stop': { behaviour: 'A graceful stop ends the streams, finishes open requests and exits with 0.' },
  'server:openapi': {
    behaviour: 'The OpenAPI document is valid and lists every route and answer, and a generated client works.',
  },
  'server:settings': {
    behaviour: "Settings name their source and how to change them. A change is written to the user's or the project's file.",
  },
  'server:settings-refused': {
    behaviour:
      'Only an admin changes settings. No setting that runs, opens or moves anything can be changed, and a wrong value changes nothing.',
  },
  'server:settings-at-once': { behaviour: 'Concurrent changes are all kept.' },
  'server:settings-live': {
    behaviour: 'Every running process uses a changed setting from its next carrier on, in every project of the setting.',
  },
  'server:pages': {
    behaviour:
      'A page of a list holds at most about 512 kB of JSON, or one larger record, and all pages together hold everything once.',
  },
  'server:unread-streams': {
    behaviour:
      'With thousands of streams that nobody reads, the server refuses streams above the cap and answers requests, and other streams lose no record.',
  },
  'server:lifted': { behaviour: 'A resume over HTTP answers with the pauses that it lifted.' },
  'config:broken-redact': {
    behaviour: 'While a file that sets redact cannot be parsed, texts are redacted whole.',
  },
  'config:bounded': {
    behaviour: 'No text of 1 MB keeps the TOML reader busy: long keys, deep values and very many entries are refused.',
  },
  'config:links': {
    behaviour: 'A project configuration that is a link out of the project is refused without its content.',
  },
  'store:unused': { behaviour: 'If prune cannot shrink a large database from before 0.1.0, it says so, and how to shrink it.' },
  'server:many-agents': { behaviour: 'A page of 10,000 agents with 100 open each is one indexed query.' },
  'server:cli': { behaviour: 'With --server the commands print the same about a server as about a database.' },
  'server:events': {
    behaviour: 'CloudEvents and signed webhooks reach the subscribers. One invalid event rejects the whole batch.',
  },
  'server:subscribers': {
    behaviour: 'HTTP lists subscribers, switches them and tries them. A core subscriber is refused with the reason.',
  },
  'server:test': {
    behaviour:
      'A test of a subscriber shows the text and sends nothing. With `to`, one agent gets it, marked as a test, at level info.',
  },
  'store:closed-in': { behaviour: 'An index finds the notifications closed in a period, however long the log is.' },
  'server:times': {
    behaviour: 'Lists, charts and searches take a period and look only at that period.',
  },
  'server:mutes': {
    behaviour: 'HTTP and the command line mute a kind for one agent, until a time or until the mute is lifted.',
  },
  'server:activity': {
    behaviour: 'Charts count queued, delivered and open notifications. Settings and tokens show no secret.',
  },
  'server:command': {
    behaviour: 'earpiece serve logs browsers in, and refuses to listen for others without a token. No other command loads it.',
  },
  'server:many-streams': {
    behaviour:
      'Thousands of streams delay no request. Writes take turns, and a reader that takes nothing is cut off with bounded memory.',
  },
  'server:security': { behaviour: 'Each attack in the table of docs/server.md is tried, with the listed result.' },
  'server:tokens': {
    behaviour: 'A token does only what its kind may do, at most at its level, and stops the moment it is revoked.',
  },

  // The package.
  'package:old-node': { behaviour: 'On an older Node, every entry point names the needed version in one line and exits with 1.' },
  'package:subpaths': { behaviour: 'Every subpath can be imported, and required, with the declared dependencies alone.' },
  'package:surface': { behaviour: 'A page names every export, and a changed declaration fails the check.' },
  'library:misuse': {
    behaviour:
      'Each export of the package refuses a misspelt option and an unknown word, and suggests the right one. It also refuses data that JSON cannot hold, and a value that throws when it is read.',
  },
  'library:gate': {
    behaviour: 'In a loop of the library an interrupt is read with the next user message, the end of a batch, or after 1 s.',
  },
  'library:receipt': { behaviour: 'A program can wait until its notification was delivered or read, or has ended otherwise.' },
  'package:layers': { behaviour: 'The arrows between the rooms point inward; the core has no clock, chance or I/O.' },
  'package:replaced': {
    behaviour:
      'A long-lived process continues when an upgrade replaces its files. If they are removed it says so once, and texts that need a template arrive in plain words.',
  },
  'package:first-example': { behaviour: 'The first example runs without a service or key and prints the output in the README.' },
  'package:snippets': { behaviour: 'Every snippet in the README and docs comes from a tested file.' },
  'package:start': { behaviour: 'npm start shows the first delivery in under 20 seconds, with no key, service or terminal.' },

  // Timers, processes and webhooks, and their commands.
  'sources:processes': {
    behaviour: 'run-and-tell passes output and exit code through, and the agent gets a notification with the last lines.',
  },
  'sources:timers': { behaviour: 'A reminder survives crashes and rides at the first contact point after its time, once.' },
  'sources:webhooks-live': { behaviour: 'A new, changed, removed or trusted webhook takes effect with the next request.' },
  'follow:pr': {
    behaviour:
      'A followed pull request reports failing checks with job, step and line, reviews, comments and conflicts, and withdraws what is green again.',
  },
  'follow:command': {
    behaviour:
      'A followed command keeps its input, output and exit code. Its errors are reported once, and withdrawn when a later build no longer prints them.',
  },
  'follow:problems': {
    behaviour: 'Problem matchers name file, line, test and message of the errors that common tools print.',
  },
  'follow:told-once': {
    behaviour: 'After a crash at any write of a follower, nothing is told twice, and nothing is lost that the source still has.',
  },
  'follow:withdrawn': { behaviour: 'What a follower reported and no longer sees is withdrawn.' },
  'follow:trouble': {
    behaviour:
      'A thing that cannot be seen is reported after three looks, at once if it will not pass, with the reason; `following` shows it.',
  },
  'follow:sessions': {
    behaviour:
      'Followers look while a session is active, and with `--keep` also else. The next session starts the process again and hears what happened between.',
  },
  'follow:pace': { behaviour: 'Nothing is looked at more often than stated. A machine that slept looks as soon as it is awake.' },
  'follow:files': { behaviour: 'Changes to the files that followed globs match are reported, also those between two sessions.' },
  'follow:git': { behaviour: 'In a followed repository a switched branch, a moved upstream and a conflict are reported.' },
  'follow:lsp': {
    behaviour: 'New errors that a language server finds in changed files are reported once, and withdrawn when they are fixed.',
  },
  'follow:agent': {
    behaviour: 'A followed agent is reported once: when its turn ends, when an interrupt blocks it, or when its session ends.',
  },
  'follow:tool': {
    behaviour:
      'The tool `follow` reaches pull requests of this repository, logs inside the project and addresses of this machine, and ends only its own followers.',
  },
  'follow:limits': { behaviour: 'A project follows at most 50 things, and an agent adds at most 10.' },
  'sources:sub-agents': {
    behaviour: 'An agent gets one notification, with the result, when an agent that it started has ended.',
  },
  'sources:webhooks': {
    behaviour: 'A correctly signed webhook becomes events, once. Any other request is refused with a reason.',
  },
  'cli:emit': { behaviour: 'emit takes CloudEvents and prints which subscribers took them, with the result.' },

  // Reports of the agent of Earpiece, to others and to itself.
  'sources:failures': {
    behaviour: 'A failing tool gives one failure or one timeout, in the carrier of its batch.',
  },
  'sources:thresholds': {
    behaviour: 'An agent is warned once a turn at 80 % of its tokens, 70 % of its iterations and 70 % of its context.',
  },
  'sources:loops': { behaviour: 'The same calls in three of six batches are reported, once a turn.' },
  'sources:rate-limits': {
    behaviour: 'A nearly used provider limit is reported once until it resets, a refusal each time.',
  },
  'self:deferred': { behaviour: "An agent's note to itself arrives at its time, once, across restarts." },

  'hosts:in': {
    behaviour: 'earpiece in wakes an idle agent by one typed line. It types nothing while the agent works or a person types.',
  },

  // Agents that talk to each other, and the MCP server of Earpiece.
  'talk:tell': {
    behaviour: 'An agent reaches the agents of its own project only, below critical, and the message says who sent it.',
  },
  'talk:loops': { behaviour: 'A chain of replies ends, and an agent that sends in a loop is stopped by its quota.' },
  'talk:list': { behaviour: 'list_agents shows the agents of the same project only.' },
  'talk:when': { behaviour: 'An agent that asked gets one notification when another agent is idle, or its session has ended.' },
  'mcp:server': {
    behaviour: 'earpiece mcp gives an agent without wrapped servers the tools to read, answer and reach other agents.',
  },
  'mcp:hooks': {
    behaviour: 'A host that calls the tool `hook` of earpiece mcp gets the answer of the hook command, without a process.',
  },

  // Tasks.
  'tasks:transitions': {
    behaviour: 'A task changes only to an allowed status. A refusal names the allowed ones and changes nothing.',
  },
  'tasks:expected': { behaviour: 'A change with an outdated expectation is refused, and nobody gets a notification.' },
  'tasks:interrupts': {
    behaviour: 'Only the agent that works on a stopped task gets an interrupt, once.',
  },
  'tasks:executions': { behaviour: "An execution starts when a task is taken and ends with its agent's report, once." },
  'tasks:blocked': {
    behaviour: "A person's block stops the agent at its next call, and its report closes the execution: under 2 s.",
  },
  'tasks:unblocked': { behaviour: 'An order that a person withdraws before the agent has read it never arrives.' },
  'tasks:known-faults': { behaviour: 'Known faults of the first task design do not occur.' },
  'tasks:tools': { behaviour: 'Agents get the task tools in projects with tasks, and report only their own work.' },
  'tasks:own-agent': {
    behaviour: 'The agent of Earpiece has the same task tools under the same rule, and reads an interrupt once.',
  },
  'tasks:without-tools': {
    behaviour: 'An interrupt asks only for tools that the agent has.',
  },
  'tasks:retention': {
    behaviour: 'Finished tasks are removed after their retention, with all records, in one step. Unfinished tasks stay.',
  },
  'tasks:routes': { behaviour: 'A person manages tasks over HTTP and the command line. Others are refused.' },
  'tasks:hosts': { behaviour: "Claude Code's next call is refused, and its next request holds the interrupt." },
  'tasks:one-step': {
    behaviour: 'A change of a task and its notification are one append: a kill leaves neither half.',
  },
  'tasks:purpose': {
    behaviour: 'A conversation with the purpose chat takes no task, reports none and gets no notification about one.',
  },
  'tasks:replay': { behaviour: 'The records of a task, of all logs, replay to the stored task.' },
} as const satisfies Record<string, Requirement>;

export type RequirementId = keyof typeof REQUIREMENTS;
