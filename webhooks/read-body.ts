import type { IncomingMessage } from 'node:http';

/** A request that is answered with an HTTP status and one sentence. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** An update carries the old and the new object, each up to the API server's 3 MiB. */
const maxBodyBytes = 8 * 1024 * 1024;

/** The body as text; throws HttpProblem where it is too large, cut off, or not UTF-8. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The iterator must not destroy the connection: the refusal is still to be sent on it.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const buffer = chunk as Buffer;
    bytes += buffer.length;
    if (bytes > maxBodyBytes) {
      throw new HttpProblem(413, `the body is larger than ${maxBodyBytes} bytes`);
    }
    chunks.push(buffer);
  }
  return decode(Buffer.concat(chunks, bytes));
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new HttpProblem(400, 'the body is not UTF-8');
  }
}
