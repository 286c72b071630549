#nullable enable
#if NET6_0
using System;
#else
using Old;
#endif

namespace Demo
{
    public class Store<T>
#if FAST
        : FastBase
#else
        : Base
#endif
    {
        #region fields
        private int first, second;
        #endregion

        public Store() { }

#if !NO_ASYNC
        public async Task Load(
            string name, // of the file
            int limit = 10)
        {
#if DEBUG
            if (limit > 5) {
#else
            if (limit > 10) {
#endif
                await Task.Yield();
            }
        }
#endif

        IEnumerator IEnumerable.GetEnumerator() => null;
        public IEnumerator<T> GetEnumerator() { yield break; }
    }

    public class After { public void Last() { } }
}
