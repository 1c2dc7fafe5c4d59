import { defineProvisioner } from '../../core/sdk.ts';
import { plainObjects } from './plain-objects.ts';
import { validatePlain } from './validate-plain.ts';

/** plain+v0: a flat `manifests` directory of objects, applied as they are. */
// oxlint-disable-next-line import/no-default-export -- what every provisioner's module exports
export default defineProvisioner({
  className: 'core-rukpak-io-plain',
  bundle: validatePlain,
  deployment: plainObjects,
});
