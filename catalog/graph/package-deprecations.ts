import type { OlmDeprecations } from '../blobs/index.ts';

/** The messages of a package's deprecations. */
export class PackageDeprecations {
  readonly ofPackage: string | undefined;
  readonly #channels = new Map<string, string>();
  readonly #bundles = new Map<string, string>();

  constructor(deprecations: readonly OlmDeprecations[], owner: string) {
    const own = deprecations.filter((each) => each.package === owner);
    for (const { reference, message } of own.flatMap(({ entries }) => entries)) {
      if (reference.schema === 'olm.package') this.ofPackage = message;
      if (reference.schema === 'olm.channel') this.#channels.set(reference.name, message);
      if (reference.schema === 'olm.bundle') this.#bundles.set(reference.name, message);
    }
  }

  ofChannel(name: string): string | undefined {
    return this.#channels.get(name);
  }

  ofBundle(name: string): string | undefined {
    return this.#bundles.get(name);
  }
}
