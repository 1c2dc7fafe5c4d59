import type { GitHttpRequest, GitHttpResponse } from 'isomorphic-git';
import { ByteReader } from '../../../content/index.ts';
import { AnswerBytes } from '../answer-bytes.ts';
import type { GitTransport } from '../git-transport.ts';
import { readAdvertisement } from './advertisement.ts';
import { RemoteProcess, type RemoteProcessOptions } from './remote-process.ts';

export interface SSHTransportOptions extends Omit<RemoteProcessOptions, 'timeouts'> {
  /** Bytes that all answers together may have. */
  readonly maxBytes: number;
  readonly timeouts?: RemoteProcessOptions['timeouts'];
}

interface Session {
  readonly process: RemoteProcess;
  readonly reader: ByteReader;
  /** The refs and capabilities that the server begins with. */
  readonly advertisement: Uint8Array;
}

const usualTimeouts = { connect: 10_000, handshake: 20_000, idle: 30_000 } as const;

/**
 * git-upload-pack on the server, as isomorphic-git's HTTP: asking for the refs starts it, and the
 * one request that it takes is written to it. Speaks version 0 of git's protocol, as that needs no
 * environment variables, which servers refuse.
 */
export class SSHTransport implements GitTransport {
  readonly url = 'http://ssh/';
  readonly protocolVersion = 1;
  readonly #options: SSHTransportOptions;
  readonly #bytes: AnswerBytes;
  /** Has told its refs and waits for a request. */
  #waiting: Session | undefined;
  readonly #processes = new Set<RemoteProcess>();

  constructor(options: SSHTransportOptions) {
    this.#options = options;
    this.#bytes = new AnswerBytes(options.maxBytes);
  }

  get failure(): Error | undefined {
    return this.#bytes.failure;
  }

  request = async ({ method, body }: GitHttpRequest): Promise<GitHttpResponse> => {
    try {
      this.#waiting ??= await this.#start();
    } catch (error) {
      throw this.#bytes.fail(error);
    }
    const { process, reader, advertisement } = this.#waiting;
    if (method !== 'POST') {
      return answer('application/x-git-upload-pack-advertisement', [serviceLine, advertisement]);
    }
    this.#waiting = undefined;
    process.end(await collected(body));
    return answer('application/x-git-upload-pack-result', rest(reader));
  };

  async close(): Promise<void> {
    for (const process of this.#processes) process.close();
    this.#processes.clear();
  }

  async #start(): Promise<Session> {
    const { address, signal, timeouts = usualTimeouts } = this.#options;
    const command = `git-upload-pack ${quoted(address.path)}`;
    const process = await RemoteProcess.start(command, { ...this.#options, timeouts });
    this.#processes.add(process);
    const output = this.#bytes.bounded(process.output(), (error) => error);
    const reader = new ByteReader(output, signal);
    return { process, reader, advertisement: await readAdvertisement(reader, process) };
  }
}

/** How a shell takes it for one word; as git does it, `!` is for csh. */
function quoted(path: string): string {
  return `'${path.replace(/['!]/g, "'\\$&'")}'`;
}

// What the HTTP protocol puts before the refs.
const serviceLine = Buffer.from('001e# service=git-upload-pack\n0000');

function answer(
  type: string,
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): GitHttpResponse {
  return {
    url: '',
    method: '',
    statusCode: 200,
    statusMessage: 'OK',
    headers: { 'content-type': type },
    // An array will do, whatever the type says.
    body: body as AsyncIterableIterator<Uint8Array>,
  };
}

async function* rest(reader: ByteReader): AsyncIterableIterator<Uint8Array> {
  for (let chunk = await reader.next(); chunk !== undefined; chunk = await reader.next()) {
    yield chunk;
  }
}

async function collected(body: GitHttpRequest['body']): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}
