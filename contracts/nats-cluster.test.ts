import { natsContract } from './nats.ts';

natsContract('nats, three servers and three copies', 3);
