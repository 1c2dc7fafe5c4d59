import type { GitHttpRequest, GitHttpResponse } from 'isomorphic-git';
import { ByteReader } from '../../../content/index.ts';
import { AnswerBytes } from '../http-transport.ts';
import type { GitTransport } from '../repository.ts';
import { printable } from '../server-refusal.ts';
import { RemoteProcess, type RemoteProcessOptions } from './remote-process.ts';

interface SSHTransportOptions extends Omit<RemoteProcessOptions, 'timeouts'> {
  /** Maximum bytes of all answers together. */
  readonly maxBytes: number;
  readonly timeouts?: RemoteProcessOptions['timeouts'];
}

interface Session {
  readonly process: RemoteProcess;
  readonly reader: ByteReader;
  /** The refs and capabilities at the start of the server's output. */
  readonly advertisement: Uint8Array;
}

const usualTimeouts = { connect: 10_000, handshake: 20_000, idle: 30_000 } as const;

/**
 * git-upload-pack on the server, behind isomorphic-git's HTTP interface: a request for the refs
 * starts it, and its single request is written to it. Uses version 0 of git's protocol, which needs
 * no environment variables, because servers refuse these.
 */
export class SSHTransport implements GitTransport {
  readonly url = 'http://ssh/';
  readonly protocolVersion = 1;
  readonly #options: SSHTransportOptions;
  readonly #bytes: AnswerBytes;
  /** A session that has sent its refs and waits for a request. */
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

/** Quotes a path as one word for a shell, as git does; `!` is special in csh. */
function quoted(path: string): string {
  return `'${path.replace(/['!]/g, "'\\$&'")}'`;
}

// Precedes the refs in the HTTP protocol.
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
    // An array works, whatever the type says.
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

const lengthDigits = 4;
const flush = Buffer.from('0000');

// The advertisement of a server without refs; old servers send nothing at all.
const noRefs = pktLine(`${'0'.repeat(40)} capabilities^{}\0\n`);

/**
 * Messages of hosting services and git about a repository that does not exist, or that the user may
 * not see.
 */
const notFound =
  /not found|does not exist|not appear to be a git repository|no such (file or directory|repository)|could not be found|DENIED by fallthru/i;

/**
 * The start of git-upload-pack's output: the refs and capabilities, up to a flush.
 * @throws Error `repository not found`, or the server's other message
 */
export async function readAdvertisement(
  reader: ByteReader,
  process: { readonly stderr: string },
): Promise<Uint8Array> {
  const lines: Uint8Array[] = [];
  for (;;) {
    const header = await reader.read(lengthDigits);
    if (header.byteLength < lengthDigits) throw refusal(process.stderr);
    const size = lineSize(header);
    if (size === undefined) throw await noGit(header, reader);
    if (size === 0) return Buffer.concat([...(lines.length === 0 ? [noRefs] : lines), flush]);
    const content = await reader.read(size - lengthDigits);
    if (content.byteLength < size - lengthDigits) throw refusal(process.stderr);
    const text = Buffer.from(content).toString('utf8');
    if (text.startsWith('ERR ')) throw refusal(text.slice(4));
    lines.push(header, content);
  }
}

/** The size of the whole line, zero for a flush; undefined for anything else. */
function lineSize(header: Uint8Array): number | undefined {
  const digits = Buffer.from(header).toString('latin1');
  if (!/^[0-9a-f]{4}$/i.test(digits)) return undefined;
  const size = Number.parseInt(digits, 16);
  return size === 0 || size >= lengthDigits ? size : undefined;
}

function refusal(text: string): Error {
  if (notFound.test(text)) return new Error('repository not found');
  const said = printable(text);
  return new Error(said === '' ? 'the server sent no refs' : `the server says: ${said}`);
}

async function noGit(header: Uint8Array, reader: ByteReader): Promise<Error> {
  const more = (await reader.next(400)) ?? new Uint8Array();
  const said = printable(Buffer.concat([header, more]).toString('utf8'));
  return new Error(`the server does not speak git's protocol, it says: ${said}`);
}

function pktLine(text: string): Buffer {
  const length = (text.length + lengthDigits).toString(16).padStart(lengthDigits, '0');
  return Buffer.from(`${length}${text}`);
}
