import { stringifyJson } from '../../../api/json.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import { contentPieces, fileTable, tablePieces } from './content-transfer.ts';
import type { FrameSocket } from './frame-socket.ts';
import type { FromWorker } from './messages.ts';

/** A worker process's side of the socket; each promise resolves when the message is on its way. */
export class Sender {
  readonly #frames: FrameSocket;

  constructor(frames: FrameSocket) {
    this.#frames = frames;
  }

  async send(message: FromWorker): Promise<void> {
    await this.#frames.send(Buffer.from(stringifyJson(message)));
  }

  async sendFiles(files: BundleFiles): Promise<void> {
    for (const piece of tablePieces(fileTable(files))) {
      await this.send({ type: 'files', files: piece });
    }
    const head = Buffer.from(stringifyJson({ type: 'content' } satisfies FromWorker));
    for (const parts of contentPieces(files)) await this.#frames.send(head, parts);
  }

  /** Objects that are JSON texts already. */
  async sendObjects(objects: readonly string[]): Promise<void> {
    await this.#frames.send(Buffer.from(`{"type":"objects","objects":[${objects.join(',')}]}`));
  }
}
