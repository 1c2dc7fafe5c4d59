import {
  defineSource,
  errorMessage,
  type SourceContext,
  TerminalError,
  unpackBundle,
  WaitingError,
} from 'rukpak-ts/sdk';
import { z } from 'zod';
import { type AccessKey, objectPath, signedHeaders } from './signature.ts';

const parameters = z.strictObject({
  endpoint: z.url({ protocol: /^https?$/ }),
  bucket: z.string().regex(/^[a-z0-9][-.a-z0-9]{1,61}[a-z0-9]$/),
  key: z.string().regex(/^(?!\.{1,2}(\/|$))[^/]+(\/(?!\.{1,2}(\/|$))[^/]+)*$/),
  region: z.string().default('us-east-1'),
  version: z.string().min(1).optional(),
  secret: z.string().min(1).optional(),
});
type Parameters = z.infer<typeof parameters>;

/** A tar.gz in a bucket of S3, or of a server that speaks its protocol, pinned to the object's version. */
export default defineSource({
  type: 'example-com-s3',
  parameters,
  pin: 'version',
  host: ({ endpoint }) => new URL(endpoint),
  secret: ({ secret }) => secret,
  shareable: true,

  async fetch(wanted, context) {
    const answer = await get(wanted, context);
    if (answer.body === null || !answer.ok) throw await refusal(answer, wanted);
    const pin = answer.headers.get('x-amz-version-id') ?? '';
    if (pin === '' || pin === 'null') {
      throw new Error(`bucket "${wanted.bucket}" keeps no versions: enable its versioning`);
    }
    return { files: await unpackBundle(answer.body, context), pin };
  },
});

async function get(wanted: Parameters, context: SourceContext): Promise<Response> {
  const url = new URL(objectPath(wanted.bucket, wanted.key), wanted.endpoint);
  if (wanted.version !== undefined) url.searchParams.set('versionId', wanted.version);
  const key = await accessKey(wanted, context);
  const headers = key === undefined ? {} : signedHeaders(url, key, new Date());
  try {
    // A redirect would show the signature to another host.
    return await fetch(url, { headers, redirect: 'error', signal: context.signal });
  } catch (error) {
    context.signal.throwIfAborted();
    throw new Error(`GET ${url.href}: ${errorMessage(error)}`, { cause: error });
  }
}

async function accessKey(
  { secret: name, region }: Parameters,
  { secrets, signal }: SourceContext,
): Promise<AccessKey | undefined> {
  if (name === undefined) return undefined;
  const data = (await secrets.read(name, signal))?.data;
  if (data === undefined) throw new Error(`Secret "${name}" not found`);
  const text = (field: string): string => {
    const value = data.get(field);
    if (value === undefined) throw new Error(`Secret "${name}" has no key "${field}"`);
    return new TextDecoder().decode(value);
  };
  return { id: text('access-key-id'), secret: text('secret-access-key'), region };
}

/** S3 names what is wrong in the `Code` of an XML body. */
async function refusal(answer: Response, { bucket, key, version }: Parameters): Promise<Error> {
  const [, code = `status ${answer.status}`] =
    /<Code>(\w+)<\/Code>/.exec(await answer.text()) ?? [];
  const object = `object "${key}" of bucket "${bucket}"`;
  if (code === 'NoSuchKey') return new WaitingError(`waiting for ${object}`);
  if (code === 'NoSuchVersion') return new TerminalError(`${object} has no version "${version}"`);
  return new Error(`cannot get ${object}: ${code}`);
}
