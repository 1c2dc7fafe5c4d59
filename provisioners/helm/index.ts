import { defineProvisioner } from '../../core/sdk.ts';
import { sharedEngine } from './engine/wasm-chart-engine.ts';
import { helmClass } from './helm-class.ts';

export { isChart } from './chart-content.ts';

/** Helm charts, rendered by Helm's own engine. */
// oxlint-disable-next-line import/no-default-export -- what every provisioner's module exports
export default defineProvisioner(helmClass(sharedEngine));
