/** The main module of a worker process: runs the handlers that its manager calls. */
import { Socket } from 'node:net';
import { deserialize } from 'node:v8';
import { ContentCollector, FrameSocket } from '../protocol/frames.ts';
import type { ToWorker } from '../protocol/messages.ts';
import { fromThrown, toThrown } from '../protocol/thrown.ts';
import { answerWith, type RunningCall } from './answer-call.ts';
import { confine } from './confine.ts';
import { Sender } from './sender.ts';

let running: RunningCall | undefined;

// The manager ends its workers itself: a terminal's Ctrl-C reaches the whole process group.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);

const socket = new Socket({ fd: 3, readable: true, writable: true });
socket.on('close', () => process.exit());
const frames = new FrameSocket(socket, {
  maxBytes: Number.POSITIVE_INFINITY,
  onFrame: (head, body) => receive(deserialize(head) as ToWorker, body),
  onOversize: () => undefined,
});
const sender = new Sender(frames);
if (process.argv[2] === 'confined') confine(socket);

function receive(message: ToWorker, body: Uint8Array): void {
  switch (message.type) {
    case 'call':
      running = {
        message,
        content: new ContentCollector(message.files),
        abort: new AbortController(),
        sender,
      };
      return runWhenComplete(running);
    case 'content':
      running?.content.add(body);
      return runWhenComplete(running);
    case 'abort':
      return running?.abort.abort(fromThrown(message.reason));
  }
}

function runWhenComplete(call: RunningCall | undefined): void {
  if (call?.content.complete === true) void answer(call);
}

async function answer(call: RunningCall): Promise<void> {
  try {
    await answerWith[call.message.handler](call);
    await sender.send({ type: 'end' });
  } catch (error) {
    await sender.send({ type: 'end', error: toThrown(error) });
  }
}
