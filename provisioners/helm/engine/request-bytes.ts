import type { ChartFiles } from './chart-files.ts';
import type { RenderRequest } from './render-request.ts';

export type RequestHeader = Omit<RenderRequest, 'files' | 'seed' | 'now'>;

/**
 * A request as the engine reads it (go/request.go): the length of a JSON text, that text, and the
 * content of the files in its order.
 */
export function requestBytes(files: ChartFiles, header: Partial<RequestHeader>): Uint8Array {
  const table = Array.from(files, ([path, content]) => ({ path, size: content.byteLength }));
  const text = Buffer.from(JSON.stringify({ ...header, files: table }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.byteLength);
  return Buffer.concat([length, text, ...files.values()]);
}
