/** A bulk registry in a process of its own: `source IMAGES LAYERS MIB`, or `sink`. Prints its host. */
import { BulkRegistry } from './bulk-registry.ts';

const [kind, ...sizes] = process.argv.slice(2);
const [images = 1, layersPerImage = 1, layerSize = 1] = sizes.map(Number);
const registry =
  kind === 'source'
    ? await BulkRegistry.source({ images, layersPerImage, layerSize })
    : await BulkRegistry.sink();
console.log(registry.host);
