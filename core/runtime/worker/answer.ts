import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleSource } from '../../../api/v1alpha1/bundle.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import type { InputReference } from '../../contracts/provisioner.ts';
import { ContentCollector } from './content-transfer.ts';
import type { ContentMessage, FilesMessage, InputsMessage, ObjectsMessage } from './messages.ts';

/** The result of one call, as it comes in. */
export class Answer {
  readonly #objects: KubernetesObject[] = [];
  #files: ContentCollector | undefined;
  #resolvedSource: BundleSource | undefined;
  #references: readonly InputReference[] = [];

  add(message: FilesMessage | ContentMessage | ObjectsMessage | InputsMessage): void {
    switch (message.type) {
      case 'files':
        this.#resolvedSource = message.resolvedSource;
        if (message.files !== 'unchanged') this.#files = new ContentCollector(message.files);
        return;
      case 'content':
        return this.#files?.add(message.parts);
      case 'objects':
        for (const object of message.objects) this.#objects.push(object);
        return;
      case 'inputs':
        this.#references = message.references;
    }
  }

  /** What a bundle handler returned; undefined where it was what it had been given. */
  files(): BundleFiles | undefined {
    return this.#files?.files();
  }

  /** What a source says that it fetched. */
  get resolvedSource(): BundleSource | undefined {
    return this.#resolvedSource;
  }

  /** What an inputs handler returned. */
  references(): readonly InputReference[] {
    return this.#references;
  }

  /** What a deployment handler returned. */
  objects(): readonly KubernetesObject[] {
    return this.#objects;
  }
}
