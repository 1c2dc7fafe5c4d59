import type { BundleFiles } from '../../../core/sdk.ts';
import { assertEqual } from '../../assert-equal.ts';
import { bundleFiles } from '../../builders/bundle-files.ts';
import { contentTexts } from '../../content-texts.ts';
import type { AcceptedContent, DeploymentFixture } from '../fixtures.ts';
import type { Trial } from '../trial.ts';
import { assertWellShaped } from '../well-shaped.ts';

/** The handler takes the fixture, and gives what the fixture says, where it says so. */
export async function checkResult(
  trial: Trial,
  { stored, objects }: Pick<AcceptedContent, 'stored'> & Pick<DeploymentFixture, 'objects'>,
): Promise<void> {
  const result = await trial.run(await trial.given());
  assertWellShaped(trial.handler, result);
  if (stored !== undefined && trial.handler === 'bundle') {
    const texts = contentTexts(result as BundleFiles);
    assertEqual(
      texts,
      contentTexts(bundleFiles(stored)),
      'what it stores is not what the fixture says',
    );
  }
  if (objects !== undefined && trial.handler === 'deployment') {
    assertEqual(result, objects, 'its objects are not those of the fixture');
  }
}
