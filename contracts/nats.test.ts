import { natsContract } from './nats.ts';

natsContract('nats, one server', 1);
