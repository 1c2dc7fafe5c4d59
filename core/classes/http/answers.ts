import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { parseJson } from '../../../api/json.ts';
import { unpackTar } from '../../content/index.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import type { InputReference, ProvisionerContext } from '../../contracts/provisioner.ts';
import type { ContentMemory } from '../../contracts/source.ts';
import { TerminalError, WaitingError } from '../../errors.ts';
import type { Turn } from '../../platform/runtime/index.ts';
import type { AnswerMemory } from './answer-memory.ts';
import type { ClassAddress } from './class-address.ts';
import type { ClassAnswer } from './class-connection.ts';

/** The type of an answer, without its parameters. */
function mediaTypeOf({ headers }: Pick<ClassAnswer, 'headers'>): string {
  const { 'content-type': type } = headers;
  return (typeof type === 'string' ? type : '').replace(/;.*$/s, '').trim().toLowerCase();
}

/** @throws Error for another type, and for an answer that does not show whether it is complete */
export function checkBody(answer: ClassAnswer, types: readonly string[]): void {
  const { headers } = answer;
  const type = mediaTypeOf(answer);
  if (!types.includes(type)) {
    const found = type === '' ? 'has no Content-Type' : `is ${JSON.stringify(type.slice(0, 100))}`;
    throw new Error(`the answer ${found}, but must be ${types.join(' or ')}`);
  }
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') {
    throw new Error('the answer has a Content-Encoding, and none is understood');
  }
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    throw new Error(
      'the answer has no Content-Length and is not chunked, so that core could not detect a truncated one',
    );
  }
}

/**
 * Reads a body; one that may be large asks for its memory as it arrives.
 * @throws Error when the body is longer; errors of the connection pass through
 */
export async function readBody(
  { body }: ClassAnswer,
  maxBytes: number,
  memory?: AnswerMemory,
): Promise<Buffer> {
  memory?.restart();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > maxBytes) {
      throw new Error(`the answer is larger than the limit of ${maxBytes} bytes`);
    }
    await memory?.take(chunk.byteLength);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** The content of an answer. */
export async function contentIn(
  answer: ClassAnswer,
  { limits, signal }: ProvisionerContext,
  memory: ContentMemory,
): Promise<BundleFiles> {
  checkBody(answer, ['application/x-tar']);
  return await unpackTar(answer.body, { limits, signal, memory });
}

/** Tells the turn of all bytes so far, and never waits: who holds content must come to an end. */
export function countedBy(turn: Turn | undefined): ContentMemory {
  let bytes = 0;
  return {
    take: async (more) => {
      bytes += more;
      turn?.received?.(bytes);
    },
  };
}

/** The manifests of an answer, as content of one file. */
export async function manifestIn(
  answer: ClassAnswer,
  { limits }: ProvisionerContext,
  memory: AnswerMemory,
): Promise<BundleFiles> {
  checkBody(answer, ['application/json', 'application/yaml']);
  const name = mediaTypeOf(answer) === 'application/json' ? 'answer.json' : 'answer.yaml';
  const body = await readBody(answer, limits.maxBytes, memory);
  return { files: new Map([[name, body]]), directories: new Set() };
}

const maxInputsBytes = 256 * 1024;

/** The reconciler checks the references. */
export async function referencesIn(answer: ClassAnswer): Promise<readonly InputReference[]> {
  checkBody(answer, ['application/json']);
  const references = parseJson((await readBody(answer, maxInputsBytes)).toString('utf8'));
  if (!Array.isArray(references)) throw new Error('the answer to POST v1/inputs is not an array');
  return references;
}

const maxRefusalBytes = 64 * 1024;

/** `message` for the condition; `reason` in metav1.Condition's format. */
const refusalSchema = z.object({
  message: z.string().min(1),
  reason: z
    .string()
    .max(1024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
    .optional(),
});

type Refusal = z.infer<typeof refusalSchema>;

/** Too busy, or unavailable behind its proxy. */
const waiting: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const hints: Readonly<Record<number, string>> = {
  401: 'set the right credentials with --provisioner-url-credentials',
  403: 'set the right credentials with --provisioner-url-credentials',
  404: 'is the URL right?',
};

/**
 * The error for an answer other than 200 and 204. Only a 422 is terminal: somebody may repair a
 * server that violates the contract, and core gets no event of that.
 */
export async function refusalOf(answer: ClassAnswer, { name }: ClassAddress): Promise<Error> {
  const { status, token } = answer;
  if (status >= 300 && status < 400) {
    await answer.body.dump({ limit: maxRefusalBytes }).catch(() => undefined);
    return new Error(
      `${name} answered ${statusText(status)}: redirects are not followed, as credentials are for the address that was given: correct it`,
    );
  }
  const refusal = await explanation(answer);
  const text = refusal === undefined ? undefined : quoted(refusal.message, token);
  if (status === 422 && refusal !== undefined && text !== undefined) {
    const { reason } = refusal;
    return new TerminalError(`${name}: ${text}`, reason === undefined ? {} : { reason });
  }
  const message = [`${name} answered ${statusText(status)}`, hints[status], text]
    .filter((part) => part !== undefined)
    .join(': ');
  return waiting.has(status) ? new WaitingError(message) : new Error(message);
}

/** The server's explanation, in JSON as requested, or in plain text. */
async function explanation(answer: ClassAnswer): Promise<Refusal | undefined> {
  const body = await readBody(answer, maxRefusalBytes).catch(() => undefined);
  if (body === undefined) return undefined;
  const text = body.toString('utf8');
  const type = mediaTypeOf(answer);
  if (type === 'application/json') return refusalSchema.safeParse(jsonIn(text)).data;
  if (type !== 'text/plain' || answer.status === 422 || text.trim() === '') return undefined;
  return { message: text };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function statusText(status: number): string {
  const text = STATUS_CODES[status];
  return text === undefined ? String(status) : `${status} ${text}`;
}

const longestQuote = 2_000;

// Control characters, including those that change the direction of text.
// oxlint-disable-next-line no-control-regex
const unprintable = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/** A server's text in one line, without core's token. */
function quoted(text: string, token: string | undefined): string {
  const some = text.slice(0, 4 * longestQuote);
  const discreet = token === undefined ? some : some.replaceAll(token, '***');
  const line = discreet.replaceAll(unprintable, ' ').trim();
  return (line.length > longestQuote ? `${line.slice(0, longestQuote)}…` : line).toWellFormed();
}
