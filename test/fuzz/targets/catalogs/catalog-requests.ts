import { protocol } from '../../../../catalog/serve/grpc/protocol.ts';
import { ReflectionStream } from '../../../../catalog/serve/grpc/reflection.ts';
import { conditionalStatus, requestedRange } from '../../../../catalog/serve/http/conditions.ts';
import { requestTarget } from '../../../../catalog/serve/http/request-target.ts';
import { bytesOf, type FuzzTarget, textOf, Violation } from '../../fuzz-target.ts';

const validators = { tag: 'a', modified: new Date(0) };
const size = 1000;
const reflection = 'grpc.reflection.v1.ServerReflectionRequest';

/** Requests to a catalog server: URLs, conditions and ranges over HTTP, messages over gRPC. */
export const catalogRequests: FuzzTarget = {
  name: 'catalog-requests',
  seeds: [
    '/catalogs/shop/api/v1/metas?schema=olm.bundle&package=a&name=a.v1',
    '/catalogs/sh%6fp/all.json?x=y',
    'bytes=0-10',
    'bytes=-5',
    'W/"a", "a-gzip", *',
    'Thu, 01 Jan 1970 00:00:00 GMT',
    Buffer.from(
      protocol.encode(reflection, {
        messageRequest: { case: 'fileContainingSymbol', value: 'api.Bundle.csvName' },
      }),
    ).toString('latin1'),
  ],
  words: ['/catalogs/', '%2e%2e/', '%', '&name=', '__proto__', 'bytes=', '-', '"a"', 'api.Bundle'],
  refusals: [],
  read(input) {
    const text = textOf(input);
    const target = requestTarget('GET', text);
    if ('location' in target) checkRedirect(target.location);
    else if ('status' in target && ![400, 404].includes(target.status)) {
      throw new Violation(`status ${target.status}`);
    }
    const headers = { range: text, 'if-none-match': text, 'if-modified-since': text };
    conditionalStatus(headers, validators);
    conditionalStatus({ 'if-match': text, 'if-unmodified-since': text }, validators);
    const range = requestedRange(headers, validators, size);
    const isWithin =
      typeof range !== 'object' ||
      (range.start >= 0 && range.start < range.end && range.end <= size);
    if (!isWithin) throw new Violation(`range ${JSON.stringify(range)}`);
    answerReflection(bytesOf(input));
  },
};

/** A path of this server, and nothing that a header or a page may not have. */
function checkRedirect(location = ''): void {
  if (/^\/(?!\/)[\x21-\x7e]*$/.test(location) && !/[\\"<>]/.test(location)) return;
  throw new Violation(`redirect to ${JSON.stringify(location)}`);
}

/** The library refuses invalid messages with its own errors, which end the call. */
function answerReflection(bytes: Uint8Array): void {
  try {
    protocol.decode(reflection, bytes);
  } catch {
    return;
  }
  new ReflectionStream('grpc.reflection.v1').answer(bytes);
}
