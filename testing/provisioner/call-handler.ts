import type { Bundle, BundleDeployment, Provisioner } from '../../core/sdk.ts';
import type { Given, HandlerName } from './given.ts';

/** Calls one handler of a class; one that it does not have gives nothing. */
export async function callHandler(
  { bundle, configure, inputs, deployment }: Provisioner,
  handler: HandlerName,
  { files, object, context }: Given,
): Promise<unknown> {
  if (handler === 'bundle') return await bundle?.(files, object as Bundle, context);
  if (handler === 'inputs') return await inputs?.(object as BundleDeployment, context);
  const handle = handler === 'configure' ? configure : deployment;
  return await handle?.(files, object as BundleDeployment, context);
}
