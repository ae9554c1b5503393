using System;
using System.Collections.Generic;

namespace Example.Work
{
    /// <summary>Something to be done later.</summary>
    public interface IJob
    {
        void Run();
    }

    [Serializable]
    public class JobQueue<T> where T : IJob
    {
        private readonly Queue<T> _jobs = new();

        public int Count { get; private set; }

        public event EventHandler? Drained;

        public JobQueue()
        {
            Count = 0;
        }

        /// <summary>Puts a job at the end.</summary>
        public void Push(T job)
        {
            _jobs.Enqueue(job);
            Count++;
        }

        public T this[int index] => _jobs.ToArray()[index];

        public static bool operator +(JobQueue<T> left, JobQueue<T> right) => left.Count > right.Count;
    }

    public enum Priority
    {
        Low,
        High,
    }

    public record Ticket(string Name, int Number);

    public struct Slot
    {
        public int From;

        public int Length() => From + 1;
    }
}
