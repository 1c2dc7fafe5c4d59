import { createHash, createHmac } from 'node:crypto';

/** What AWS signature v4 signs a request with. */
export interface AccessKey {
  readonly id: string;
  readonly secret: string;
  readonly region: string;
}

const algorithm = 'AWS4-HMAC-SHA256';
const emptyBody = sha256('');

/** Headers of a GET of S3, signed by AWS signature v4. */
export function signedHeaders(url: URL, key: AccessKey, now: Date): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/${key.region}/s3/aws4_request`;
  const headers = { host: url.host, 'x-amz-content-sha256': emptyBody, 'x-amz-date': time };
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const request = ['GET', url.pathname, canonicalQuery(url), lines.join(''), names, emptyBody];
  const text = [algorithm, time, scope, sha256(request.join('\n'))].join('\n');
  const signature = hmac(signingKey(key.secret, scope), text).toString('hex');
  const { host: _, ...sent } = headers;
  return {
    ...sent,
    authorization: `${algorithm} Credential=${key.id}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

/** A path of S3: RFC 3986's unreserved characters as they are, all others encoded. */
export function objectPath(bucket: string, key: string): string {
  return `/${[bucket, ...key.split('/')].map(encode).join('/')}`;
}

function canonicalQuery(url: URL): string {
  return [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}

function signingKey(secret: string, scope: string): Buffer {
  return scope
    .split('/')
    .reduce<Buffer>((key, part) => hmac(key, part), Buffer.from(`AWS4${secret}`));
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
